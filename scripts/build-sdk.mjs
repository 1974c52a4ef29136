// Builds packages/sdk/dist, or the folder given: the SDK as an ES module and as CommonJS, with types and source maps for
// both. Everything that it imports is bundled in, so that the package installs alone, with the
// licences and the bill of materials beside it.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'
import { noticesOf } from './notices.mjs'
import { billOf } from './sbom.mjs'
import { packagesIn, ROOT as root } from './shipped.mjs'

const sdk = join(root, 'packages/sdk')
const dist = process.argv[2] ?? join(sdk, 'dist')
/** Types that the SDK's own refer to. Those of Node are global and stay outside. */
const BUNDLED_TYPES = ['jose', 'openapi-fetch', 'openapi-typescript-helpers', 'standardwebhooks']

/**
 * Bundles the program in one module format; returns the packages that are in the bundle.
 * @param {'esm' | 'cjs'} format
 * @param {string} file
 */
async function bundle(format, file) {
  const { metafile, outputFiles } = await build({
    entryPoints: [join(sdk, 'src/index.ts')],
    // Wherever it is written: its source map names the sources from here, and is the same on every machine.
    outfile: join(sdk, 'dist', file),
    write: false,
    absWorkingDir: root,
    bundle: true,
    format,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    sourcemap: true,
    metafile: true,
    logLevel: 'warning',
  })
  for (const { path, contents } of outputFiles) writeFileSync(join(dist, basename(path)), contents)
  return packagesIn(metafile)
}

/** Rolls all declarations up into one file, which means the same in both module formats. */
async function declarations() {
  const tsconfig = join(sdk, 'tsconfig.build.json')
  const rolled = await rollup({
    input: join(sdk, 'src/index.ts'),
    plugins: [dts({ tsconfig, includeExternal: BUNDLED_TYPES })],
  })
  await rolled.write({ file: join(dist, 'index.d.ts'), format: 'es' })
  await rolled.close()
  copyFileSync(join(dist, 'index.d.ts'), join(dist, 'index.d.cts'))
}

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const bundled = new Set([...(await bundle('esm', 'index.js')), ...(await bundle('cjs', 'index.cjs'))])
await declarations()
writeFileSync(join(dist, 'THIRD-PARTY-LICENCES.txt'), noticesOf(bundled))
writeFileSync(join(dist, 'sbom.cdx.json'), billOf('packages/sdk', bundled))
