import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, readConfig, SETTINGS } from '@svc/contract/config'
import { Secret } from '@svc/kernel/secret'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fileWith = (text: string): string => {
  const file = join(folder, `${Math.random()}`)
  writeFileSync(file, text)
  return file
}

/** A value that each secret accepts. */
const VALUES: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://u:canary@h1,h2/db?target_session_attrs=read-write',
  DATABASE_OPERATOR_URL: 'postgresql://u:canary@h/db',
  DATABASE_OWNER_URL: 'postgresql://u:canary@h/db',
  DATABASE_RAIL_URL: 'postgresql://u:canary@h/db',
  DATABASE_READ_URL: 'postgresql://u:canary@h/db',
  CELL_DATABASE_URLS: 'a=postgresql://u:canary@h/db b=postgresql://u:canary@h2/db',
  SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SVC_OPERATOR_PASSWORD: 'the password of asha',
  METRICS_TOKEN: 'canary',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary',
  UPI_RAIL_KEYS: 'canary-canary-canary-canary-canary',
  CARD_RAIL_KEYS: 'canary-canary-canary-canary-canary',
  ALERT_WEBHOOK_URL: 'https://alerts.example.com/canary',
  DISPUTE_EVIDENCE_URL: 'https://bank.example.com/canary',
  ALERT_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  BANK_RAIL_KEYS: 'canary-canary-canary-canary-canary',
  VAULT_TOKEN: 'canary',
  OIDC_CLIENT_SECRET: 'canary',
  SVC_OPERATOR_CODE: 'canary',
  RATE_LIMIT_URL: 'redis://:canary@h',
}
/** A value of settings that are no secret, have no default and are no address. */
const PUBLIC: Readonly<Record<string, string>> = {
  APPROVAL_ABOVE_RUPEES: 'none',
  APPROVER_COOLING_DAYS: '7',
  CELL_URLS: 'a=http://10.0.1.5:8080',
  CONSOLE_IDLE_MINUTES: '15',
  FUNDING_IFSC: 'HDFC0000001',
  OIDC_CLIENT_ID: 'svc-console',
  SUPPLIER_GSTIN: '29AAGCB7383J1Z4',
  SVC_MASTER_KEY_WRAPPED: 'vault:v1:d3JhcHBlZA==',
}
const names = Object.entries(SETTINGS)
  .filter(([, setting]) => 'secret' in setting)
  .map(([name]) => name)

const revealed = (value: unknown): unknown =>
  [value].flat().map((each) => (each instanceof Secret ? each.reveal() : each))

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('every setting that is read as a secret may come from a file', () => {
  const secrets = Object.entries(SETTINGS).filter(([name, setting]) => {
    const value = VALUES[name] ?? setting.default ?? PUBLIC[name] ?? 'https://svc.example.com'
    const read: unknown = setting.read(value)
    const parts = read instanceof Map ? [...read.values()] : [read].flat()
    return parts.some((each: unknown) => each instanceof Secret)
  })
  expect(secrets.map(([name]) => name).sort()).toEqual([...names].sort())
  expect([...names].sort()).toEqual(Object.keys(VALUES).sort())
})

test.each(names)(
  '%s_FILE names a file that contains the value; surrounding white space is ignored',
  (name) => {
    const value = VALUES[name]!
    // An address of alerts needs the secret that signs them.
    const { ALERT_WEBHOOK_SECRET } = VALUES
    const beside = name === 'ALERT_WEBHOOK_URL' ? { ALERT_WEBHOOK_SECRET } : {}
    const read = (environment: Record<string, string>) =>
      revealed((readConfig({ ...beside, ...environment }) as unknown as Record<string, unknown>)[name])
    expect(read({ [`${name}_FILE`]: fileWith(`${value}\n`) })).toEqual(read({ [name]: value }))
  },
)

test('live mode starts with all of its secrets in files', () => {
  const environment = Object.fromEntries(
    names.map((name) => [`${name}_FILE`, fileWith(`${VALUES[name]!}\n`)]),
  )
  expect(problemsOf({ SVC_MODE: 'live', ...environment })).toEqual([])
})

test('a file that is missing, empty, or given beside the value is rejected, and the value is not repeated', () => {
  const cases = {
    missing: { METRICS_TOKEN_FILE: join(folder, 'none') },
    empty: { METRICS_TOKEN_FILE: fileWith(' \n') },
    both: { METRICS_TOKEN_FILE: fileWith('canary'), METRICS_TOKEN: 'canary' },
    wrong: { SVC_MASTER_KEY_FILE: fileWith('canary') },
  }
  const problems = Object.values(cases).flatMap(problemsOf)
  expect(problems).toEqual([
    expect.stringMatching(/METRICS_TOKEN cannot be read.*METRICS_TOKEN_FILE names \(ENOENT\)/),
    expect.stringMatching(/METRICS_TOKEN is empty in the file/),
    expect.stringMatching(/METRICS_TOKEN must not be set beside METRICS_TOKEN_FILE/),
    expect.stringMatching(/SVC_MASTER_KEY must be 32 bytes/),
  ])
  expect(problems.join()).not.toContain('canary')
})
