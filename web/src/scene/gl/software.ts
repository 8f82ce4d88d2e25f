// Where the browser draws on the processor: smooth edges cost half of the pictures a second, waiting costs the rest.

let known: boolean | null = null;

export function isSoftware(): boolean {
  if (known !== null) return known;
  const plain = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  const info = plain?.getExtension("WEBGL_debug_renderer_info");
  const name = plain && info ? String(plain.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  plain?.getExtension("WEBGL_lose_context")?.loseContext();
  known = plain === null || /swiftshader|llvmpipe|software/i.test(name);
  return known;
}

/** Begins what was ordered, while the page goes on: without a fence the browser puts it off until it needs the picture. */
export function beginPicture(gl: WebGL2RenderingContext): void {
  const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.flush();
  gl.deleteSync(fence);
}
