import { address, bad, renewed, type Setting, text, whole } from './setting.ts'

const wrappedKeys: Setting<string[], undefined> = {
  type: '`vault:v…:…`, comma-separated',
  default: undefined,
  meaning:
    'Master keys that HashiCorp Vault’s transit engine has wrapped, in place of `SVC_MASTER_KEY` and by the same rules: the first wraps data keys, all of them unwrap. Needs `VAULT_ADDR` and `VAULT_TOKEN`.',
  read: (value) =>
    value.split(',').map((part) => {
      const wrapped = part.trim()
      return /^vault:v\d{1,9}:[A-Za-z0-9+/=]{1,4096}$/.test(wrapped)
        ? wrapped
        : bad('must be ciphertexts of Vault’s transit engine, such as vault:v1:…')
    }),
}

const path = (fallback: string, meaning: string): Setting<string> => ({
  type: 'letters, digits, `_`, `-`, `.` and `/`',
  default: fallback,
  meaning,
  read: (value) =>
    /^[\w.-]{1,100}(?:\/[\w.-]{1,100}){0,9}$/.test(value) && !value.includes('..')
      ? value
      : bad('must be letters, digits, _, -, . and /'),
})

/** HashiCorp Vault, by the names of its own settings. */
export const VAULT_SETTINGS = {
  SVC_MASTER_KEY_WRAPPED: wrappedKeys,
  VAULT_ADDR: address(
    ['http:', 'https:'],
    'Vault that unwraps `SVC_MASTER_KEY_WRAPPED`, such as `https://vault.example.com:8200`.',
  ),
  VAULT_TOKEN: renewed(
    'Token for Vault; its policy needs `update` on `transit/decrypt/svc` and nothing else. The file of `VAULT_TOKEN_FILE` is read at every use, so that Vault Agent may replace it.',
  ),
  VAULT_NAMESPACE: text(undefined, 'Namespace of Vault, where it has some.'),
  VAULT_TRANSIT_MOUNT: path('transit', 'Where Vault’s transit engine is mounted.'),
  VAULT_TRANSIT_KEY: path('svc', 'Name of the transit engine’s key.'),
  VAULT_CHECK_SECONDS: whole(
    60,
    1,
    86_400,
    'How often a running service checks that Vault still unwraps its master keys. A failure stops nothing; the log and `warnings` of `/readyz` explain it.',
  ),
} satisfies Record<string, Setting<unknown, string | undefined>>
