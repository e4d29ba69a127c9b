/** The system and the processor, as the names of packages have them: linux-x64, win-x64. */
export const PLATFORM = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
