import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Where `npm run dev` in this folder finds the service that it calls. */
const SERVICE = process.env['SERVICE'] ?? 'http://127.0.0.1:8080'

const ENCODINGS = { '.br': promisify(brotliCompress), '.gz': promisify(gzip) }

/** Writes a brotli and a gzip version beside every text file, which the service sends to browsers that accept them. */
const precompress: Plugin = {
  name: 'precompress',
  async writeBundle({ dir }) {
    const entries = await readdir(dir!, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && /\.(?:css|html|js|json|svg)$/.test(entry.name))
    await Promise.all(
      files.map(async ({ name, parentPath }) => {
        const file = join(parentPath, name)
        const original = await readFile(file)
        for (const [suffix, compress] of Object.entries(ENCODINGS)) {
          const compressed = await compress(original)
          if (compressed.length < original.length) await writeFile(file + suffix, compressed)
        }
      }),
    )
  },
}

/** The portal's page is made by the console's, with another entry. */
const portalEntry: Plugin = {
  name: 'portal-entry',
  transformIndexHtml: {
    order: 'pre',
    handler: (html) =>
      html
        .replace('/src/main.tsx', '/src/portal/main.tsx')
        .replace('<title>svc console</title>', '<title>svc portal</title>')
        .replace(/<noscript>.*<\/noscript>/, '<noscript>The portal needs JavaScript.</noscript>'),
  },
}

/** `--mode portal` builds the tenants' portal, everything else the operators' console. */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: mode === 'portal' ? '/portal/' : '/console/',
  plugins: [react(), precompress, ...(mode === 'portal' ? [portalEntry] : [])],
  build: {
    outDir: mode === 'portal' ? 'dist-portal' : 'dist',
    emptyOutDir: true,
    // The policy of the page allows no `data:` scripts or fonts, and nothing here is worth inlining.
    assetsInlineLimit: 0,
    // Read by the test that weighs the first load.
    manifest: 'manifest.json',
    // The charts, which are large, are loaded by the overview alone.
    chunkSizeWarningLimit: 600,
  },
  server: {
    proxy: Object.fromEntries(
      ['/console/api', '/portal/api'].map((path) => [path, { target: SERVICE, changeOrigin: false }]),
    ),
  },
}))
