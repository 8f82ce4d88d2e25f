// Whether the browser draws on the processor: then smooth edges cost half of the pictures a second.

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
