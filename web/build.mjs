// Builds the player and the studio, each as one ES module with its styles inside, into the Python package.
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));
const outDir = "../src/kinode/studio/static";

/** One module; the first empties the folder. */
async function bundle(entry, file, first) {
  await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    build: {
      lib: { entry, formats: ["es"], fileName: () => file },
      outDir,
      emptyOutDir: first,
      target: "es2022",
      // Vite keeps the white space of ES modules for bundlers that follow; none does.
      minify: false,
      rolldownOptions: { output: { codeSplitting: false, minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } } } },
      chunkSizeWarningLimit: 2500,
    },
  });
}

await bundle("src/main.ts", "player.js", true);
await bundle("src/studio/main.ts", "studio.js", false);
