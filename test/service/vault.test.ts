import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyProviderOf } from '@svc/app/key-provider'
import { readConfig } from '@svc/contract/config'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'
import { VaultStandIn } from '../harness/vault.ts'

let folder: string
let vault: VaultStandIn
let service: ServiceProcess

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-vault-'))
  vault = await VaultStandIn.open()
  const { url } = await newDatabase()
  const settings = { DATABASE_URL: url, DATA_DIR: folder, ...vault.settings(MASTER_KEY) }
  service = await startProcess(settings)
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await vault?.close()
  await rm(folder, { recursive: true, force: true })
})

/** What a start with these settings fails with. */
const startOf = (changed: Readonly<Record<string, string>>): Promise<unknown> =>
  keyProviderOf(readConfig({ ...vault.settings(MASTER_KEY), ...changed })).masterKeys()

const ready = async (): Promise<{ status: number; body: { warnings?: string[] } }> => {
  const response = await fetch(`${service.baseUrl}/readyz`)
  return { status: response.status, body: (await response.json()) as { warnings?: string[] } }
}

test('the service runs with a master key that Vault has unwrapped', async () => {
  expect(vault.unwrapped).toBeGreaterThan(0)
  expect(await ready()).toEqual({ status: 200, body: { status: 'ready', roles: ['api', 'jobs', 'console'] } })
  expect(service.written()).not.toContain(MASTER_KEY)
})

test('while Vault is `sealed` the service continues; the log and /readyz explain it until Vault is back', async () => {
  vault.sealed = true
  const why =
    'The service runs, but could not start again: Vault does not unwrap the master key: its state is `sealed`; the log has details'
  await expect.poll(ready, { timeout: 60_000 }).toEqual({
    status: 200,
    body: { status: 'ready', roles: ['api', 'jobs', 'console'], warnings: [why] },
  })
  expect(service.written()).toMatch(/its state is `sealed` \(Vault is sealed\).*"loop":"key_provider"/)
  vault.sealed = false
  await expect.poll(async () => (await ready()).body.warnings, { timeout: 60_000 }).toBeUndefined()
})

test('the token of VAULT_TOKEN_FILE is read at every use: once Vault Agent has replaced it, the previous one may expire', async () => {
  const file = join(folder, 'vault-token')
  const { VAULT_TOKEN: first, ...settings } = vault.settings(MASTER_KEY)
  await writeFile(file, first!)
  const provider = keyProviderOf(readConfig({ ...settings, VAULT_TOKEN_FILE: file }))
  const unwrapped = async () => (await provider.masterKeys()).map((key) => key.reveal())
  expect(await unwrapped()).toEqual([MASTER_KEY])
  vault.token = 'hvs.renewed'
  await expect(unwrapped()).rejects.toThrow('it refuses VAULT_TOKEN')
  await writeFile(file, 'hvs.renewed\n')
  expect(await unwrapped()).toEqual([MASTER_KEY])
  await rm(file)
  await expect(unwrapped()).rejects.toThrow(
    'VAULT_TOKEN cannot be read from the file that VAULT_TOKEN_FILE names (ENOENT)',
  )
  vault.token = first!
})

test.each([
  ['a wrong token', { VAULT_TOKEN: 'hvs.another' }, 'it refuses VAULT_TOKEN'],
  ['another mount', { VAULT_TRANSIT_MOUNT: 'elsewhere' }, 'it has no transit engine at VAULT_TRANSIT_MOUNT'],
  [
    'a ciphertext of another key',
    { SVC_MASTER_KEY_WRAPPED: 'vault:v1:b3RoZXI=' },
    'message authentication failed',
  ],
  ['a server that is not there', { VAULT_ADDR: 'http://127.0.0.1:1' }, 'it cannot be reached ('],
])('a start with %s fails, and the message names the cause and no secret', async (_, changed, why) => {
  const error = await startOf(changed).then(
    () => undefined,
    (failed: Error) => failed,
  )
  expect(error?.message).toContain('does not unwrap the master key')
  expect(error?.message).toContain(why)
  expect(error?.message).not.toContain('hvs.')
})

test('a key that is not of 32 bytes is rejected', async () => {
  const wrapped = vault.wrap(Buffer.alloc(16).toString('base64'))
  await expect(startOf({ SVC_MASTER_KEY_WRAPPED: wrapped })).rejects.toThrow('is not 32 bytes in base64')
})

test('contradictory settings are rejected', () => {
  const { VAULT_ADDR: _, ...incomplete } = vault.settings(MASTER_KEY)
  expect(() => readConfig(incomplete)).toThrow('VAULT_ADDR is needed')
  expect(() => readConfig({ ...vault.settings(MASTER_KEY), SVC_MASTER_KEY: MASTER_KEY })).toThrow(
    'SVC_MASTER_KEY must not be set beside SVC_MASTER_KEY_WRAPPED',
  )
})
