/** Here already, or to come: what is in memory keeps no request waiting, and to await it all the same is not free. */
export type Soon<T> = T | Promise<T>;
