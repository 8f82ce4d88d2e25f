// Whether the browser draws on the processor: then smooth edges cost half of the pictures a second.

let known: boolean | null = null;

export function isSoftware(): boolean {
  if (known !== null) return known;
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context?.getExtension("WEBGL_debug_renderer_info");
  const name = context && info ? String(context.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  known = /swiftshader|llvmpipe|software/i.test(name);
  return known;
}
