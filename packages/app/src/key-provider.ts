import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '@svc/contract/config'
import { Secret } from '@svc/kernel/secret'
import { givenKeys, type KeyProvider } from '@svc/platform/crypto/key-provider'
import { vaultTransit } from '@svc/platform/crypto/vault-transit'
import { createWhole } from '@svc/platform/write-whole'

/** The provider that the settings name. */
export function keyProviderOf(config: Config): KeyProvider {
  const { SVC_MASTER_KEY, SVC_MASTER_KEY_WRAPPED, VAULT_ADDR, VAULT_TOKEN } = config
  if (SVC_MASTER_KEY_WRAPPED && VAULT_ADDR !== undefined && VAULT_TOKEN)
    return vaultTransit({
      address: VAULT_ADDR,
      token: () => VAULT_TOKEN.current(),
      namespace: config.VAULT_NAMESPACE,
      mount: config.VAULT_TRANSIT_MOUNT,
      key: config.VAULT_TRANSIT_KEY,
      wrapped: SVC_MASTER_KEY_WRAPPED,
      checkMs: config.VAULT_CHECK_SECONDS * 1_000,
    })
  return SVC_MASTER_KEY ? givenKeys(SVC_MASTER_KEY) : sandboxKeys(config.DATA_DIR)
}

/** The sandbox's own master key, made on first use and kept beside its data. */
const sandboxKeys = (dataDir: string): KeyProvider => ({
  name: join(dataDir, 'master.key'),
  async masterKeys() {
    const file = join(dataDir, 'master.key')
    if (!existsSync(file)) await createWhole(file, `${randomBytes(32).toString('base64')}\n`)
    return [new Secret((await readFile(file, 'utf8')).trim())]
  },
})
