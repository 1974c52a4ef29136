import { Secret } from '@svc/kernel/secret'
import { type KeyProvider, KeyProviderFailed } from './key-provider.ts'

export interface VaultTransit {
  /** Of the server, such as `https://vault.example.com:8200`. */
  readonly address: string
  /** Of now, since Vault Agent replaces it; throws what is wrong with the setting. */
  readonly token: () => Secret
  readonly namespace?: string | undefined
  /** Path of the secrets engine, and the name of its key. */
  readonly mount: string
  readonly key: string
  /** Master keys as `transit/encrypt` or `transit/datakey/wrapped` returned them: `vault:v1:…`. */
  readonly wrapped: readonly string[]
  readonly checkMs: number
}

const TIMEOUT_MS = 5_000

/** Master keys that Vault's transit engine unwraps: the service never sees the key that wraps them. */
export const vaultTransit = (vault: VaultTransit): KeyProvider => ({
  name: `Vault at ${vault.address}`,
  checkMs: vault.checkMs,
  masterKeys: () => Promise.all(vault.wrapped.map((ciphertext) => unwrap(vault, ciphertext))),
})

async function unwrap(vault: VaultTransit, ciphertext: string): Promise<Secret> {
  const response = await decrypt(vault, ciphertext)
  const body: unknown = await response.json().catch(() => undefined)
  if (response.status !== 200) throw refused(vault, response.status, body)
  const plaintext = (body as { data?: { plaintext?: unknown } } | undefined)?.data?.plaintext
  if (typeof plaintext !== 'string' || Buffer.from(plaintext, 'base64').length !== 32)
    throw failed(vault, 'what it unwrapped is not 32 bytes in base64; wrap a key of 256 bits')
  return new Secret(plaintext)
}

async function decrypt(vault: VaultTransit, ciphertext: string): Promise<Response> {
  const { address, namespace, mount, key } = vault
  const token = currentToken(vault)
  try {
    return await fetch(`${address}/v1/${mount}/decrypt/${encodeURIComponent(key)}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-vault-request': 'true',
        'x-vault-token': token.reveal(),
        ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
      },
      body: JSON.stringify({ ciphertext }),
      // The token goes to the server of the settings, and to no other.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    const { name, cause } = error as Error
    const code = (cause as { code?: string } | undefined)?.code
    const why =
      name === 'TimeoutError' ? `no response within ${TIMEOUT_MS / 1_000} s` : (code ?? 'no response')
    throw failed(vault, `it cannot be reached (${why})`, error)
  }
}

function currentToken(vault: VaultTransit): Secret {
  try {
    return vault.token()
  } catch (error) {
    throw failed(vault, `VAULT_TOKEN ${(error as Error).message}`, error)
  }
}

/** What the statuses of Vault's HTTP API mean here. */
const MEANINGS: Readonly<Record<number, string>> = {
  400: 'it cannot unwrap SVC_MASTER_KEY_WRAPPED with the key of VAULT_TRANSIT_KEY',
  403: 'it refuses VAULT_TOKEN, which is wrong, has expired or may not decrypt with the key of VAULT_TRANSIT_KEY',
  404: 'it has no transit engine at VAULT_TRANSIT_MOUNT',
  429: 'the node is a standby',
  472: 'the node is a secondary of a recovery cluster',
  473: 'the node is a performance standby',
  501: 'it is not initialised',
  503: 'its state is `sealed`',
}

function refused(vault: VaultTransit, status: number, body: unknown): KeyProviderFailed {
  const { errors } = (body ?? {}) as { errors?: unknown }
  const said = Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join('; ') : ''
  const meaning = MEANINGS[status] ?? `it returned status ${status}`
  return failed(vault, meaning, undefined, said === '' ? '' : ` (${said.slice(0, 200)})`)
}

/** `detail`: for operators only. */
function failed({ address }: VaultTransit, why: string, cause?: unknown, detail = ''): KeyProviderFailed {
  return new KeyProviderFailed(
    `Vault at ${address} does not unwrap the master key: ${why}${detail}`,
    `Vault does not unwrap the master key: ${why}`,
    cause,
  )
}
