// Builds the player as one ES module with its styles inside, into the Python package.
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

await build({
  root: here,
  configFile: false,
  logLevel: "warn",
  build: {
    lib: { entry: "src/main.ts", formats: ["es"], fileName: () => "player.js" },
    outDir: "../src/kinode/studio/static",
    emptyOutDir: true,
    target: "es2022",
    // Vite keeps the white space of ES modules for bundlers that follow; none does.
    minify: false,
    rolldownOptions: { output: { codeSplitting: false, minify: { compress: true, mangle: true, codegen: { removeWhitespace: true } } } },
    chunkSizeWarningLimit: 1500,
  },
});
