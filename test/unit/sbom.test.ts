import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

interface Bill {
  readonly bomFormat: string
  readonly components: readonly { readonly 'bom-ref': string }[]
}

test('the bill of materials lists what is shipped, also in the console’s page, and no development tool', async () => {
  const options = { cwd: ROOT, maxBuffer: 67_108_864 }
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/sbom.mjs'], options)
  const { bomFormat, components } = JSON.parse(stdout) as Bill
  expect(bomFormat).toBe('CycloneDX')
  const names = components.map((component) => component['bom-ref'].replace(/(?<=.)@[^@]*$/, ''))
  const shipped = ['fastify', 'pg', 'pino', 'commander', '@opentelemetry/api', 'react', '@mantine/core']
  expect(names).toEqual(expect.arrayContaining(shipped))
  for (const tool of ['vitest', 'esbuild', 'vite', 'typescript', '@biomejs/biome'])
    expect(names).not.toContain(tool)
})
