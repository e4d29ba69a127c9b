import type uPlot from "uplot";

// Charts draw these parts on the canvas themselves. Sizes are pixels of the canvas.

/** A colour or font of style.css, by the name of its token. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function circle(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

/** Sets the font of the marks of points. */
export function setMarkFont({ ctx }: uPlot): void {
  ctx.font = `600 ${12 * devicePixelRatio}px ${colour("font")}`;
}
