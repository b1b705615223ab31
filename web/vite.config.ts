// The page is built into files with hashed names that tools/embed-web puts into the binary. Nothing
// may need an inline script or style: the Content-Security-Policy of src/serve/page.c refuses them.
import { defineConfig } from "vite";

const daemon = process.env.DORMOUSE_URL ?? "http://127.0.0.1:7117";

export default defineConfig({
  esbuild: { jsx: "automatic", legalComments: "none" },
  build: {
    target: "es2022",
    outDir: process.env.WEB_OUT ?? "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      input: ["index.html", "login-failed.html"],
      output: {
        entryFileNames: "assets/[name].[hash].js",
        chunkFileNames: "assets/[name].[hash].js",
        assetFileNames: "assets/[name].[hash][extname]",
      },
    },
  },
  // `npm run dev` beside a running daemon; log in at the daemon's own link first, cookies ignore ports.
  server: {
    proxy: {
      "/api": { target: daemon, ws: true, changeOrigin: true, headers: { Origin: daemon } },
      "/healthz": { target: daemon, changeOrigin: true },
      "/login": { target: daemon, changeOrigin: true },
    },
  },
});
