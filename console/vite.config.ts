import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npm run dev` in this folder finds the service that it asks. */
const SERVICE = process.env['SERVICE'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // The policy of the page allows no `data:` scripts or fonts, and nothing here is worth inlining.
    assetsInlineLimit: 0,
    // Read by the test that weighs the first load.
    manifest: 'manifest.json',
    // The charts, which are large, are loaded by the overview alone.
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/console/api': { target: SERVICE, changeOrigin: false } } },
})
