import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Json } from '../harness/client.ts'
import { runCli, startProcess } from '../harness/processes.ts'

test('data that replaces other data under a running service gets its own RSA key', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-new-keys-'))
  const env = { DATA_DIR: dataDir }
  const service = await startProcess(env)
  /** Undefined while the service begins anew. */
  const published = async (): Promise<string | undefined> => {
    const response = await fetch(`${service.baseUrl}/.well-known/jwks.json`).catch(() => undefined)
    const { keys = [] } = response?.ok ? ((await response.json()) as Json) : {}
    return keys.find(({ kty }: Json) => kty === 'RSA')?.kid
  }
  const modulus = async (): Promise<string> =>
    ((await (await fetch(`${service.baseUrl}/.well-known/jwks.json`)).json()) as Json).keys.find(
      ({ kty }: Json) => kty === 'RSA',
    ).n
  try {
    const [kid, previous] = [await published(), await modulus()]
    const reset = await runCli(['sandbox', 'reset'], env)
    expect(reset.code, reset.stderr).toBe(0)
    await expect.poll(async () => ((await published()) ?? kid) !== kid, { timeout: 30_000 }).toBe(true)
    expect(await modulus()).not.toBe(previous)
  } finally {
    await service.end('SIGTERM')
    await rm(dataDir, { recursive: true, force: true })
  }
})
