import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

// The cookies of the dashboard: no script reads them, and no other site sends them.

/** The part of a request that cookies depend on. */
export type CookieRequest = Pick<FastifyRequest, "protocol" | "headers">;

/** `__Host-` binds a cookie to this host and to TLS. Browsers drop such a cookie on plain http. */
function fullName({ protocol }: CookieRequest, name: string): string {
  return protocol === "https" ? `__Host-${name}` : name;
}

/** The value of a presented cookie; undefined without one. */
export function presentedCookie(request: CookieRequest, name: string): string | undefined {
  return parseCookie(request.headers.cookie ?? "")[fullName(request, name)];
}

interface NewCookie {
  readonly name: string;
  readonly value: string;
  /** Seconds; by default until the browser is closed. */
  readonly maxAge?: number;
  readonly expires?: Date;
}

export function setCookie(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { name, ...rest }: NewCookie,
): void {
  const secure = request.protocol === "https";
  const options = { path: "/", httpOnly: true, sameSite: "strict" as const, secure };
  reply.header("set-cookie", stringifySetCookie({ ...rest, name: fullName(request, name), ...options }));
}
