// Builds packages/sdk/dist, or the folder given: the SDK as an ES module and as CommonJS, with types and source maps for
// both. Everything that it imports is bundled in, so that the package installs alone, with the licences beside it.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { dts } from 'rollup-plugin-dts'

const root = fileURLToPath(new URL('..', import.meta.url))
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
  const { metafile } = await build({
    entryPoints: [join(sdk, 'src/index.ts')],
    outfile: join(dist, file),
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
  const inputs = Object.keys(metafile.inputs)
  const names = inputs.map((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
  return names.filter((name) => name !== undefined)
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

/**
 * The licence of a bundled package, with its name and version.
 * @param {string} name
 */
function licenceOf(name) {
  const folder = join(root, 'node_modules', name)
  const { version: bundled, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`
  return `${name} ${bundled} (${license})\n\n${text}\n`
}

rmSync(dist, { recursive: true, force: true })
mkdirSync(dist)
const bundled = new Set([...(await bundle('esm', 'index.js')), ...(await bundle('cjs', 'index.cjs'))])
await declarations()
const licences = [...bundled].sort().map(licenceOf)
writeFileSync(join(dist, 'THIRD-PARTY-LICENCES.txt'), licences.join(`\n${'-'.repeat(72)}\n\n`))
