import { inspect } from 'node:util'
import {
  type Config,
  ConfigError,
  readConfig,
  requireOperatorUrlOfRoles,
  requireRailUrl,
  SETTINGS,
} from '@svc/contract/config'
import { idleMinutes } from '@svc/contract/sign-in-settings'
import type { Secret } from '@svc/kernel/secret'
import { expect, test } from 'vitest'

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const LIVE = {
  SVC_MODE: 'live',
  DATABASE_URL: 'postgresql://u:canary@127.0.0.1/db',
  SVC_MASTER_KEY: MASTER_KEY,
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('without any environment variables the service runs as a sandbox on loopback', () => {
  expect(readConfig({})).toMatchObject({
    SVC_MODE: 'sandbox',
    HOST: '127.0.0.1',
    PORT: 8080,
    BODY_BYTES_MAX: 65_536,
  })
})

test('an empty or blank variable counts as not set', () => {
  expect(readConfig(Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, ' '])))).toEqual(
    readConfig({}),
  )
})

test('all errors are reported at once, each by the setting’s name', () => {
  const wrong = {
    SVC_MODE: 'production',
    PORT: '65536',
    DATABASE_URL: 'mysql://x',
    DATABASE_POOL_SIZE: '1',
    SVC_MASTER_KEY: 'short',
    LOG_LEVEL: 'loud',
    TRUST_PROXY: 'yes',
    BUSINESS_TIME_ZONE: 'Mars/Olympus',
    TOKEN_TTL_SECONDS: '1e3',
    UPI_RAIL_KEYS: 'short',
    QR_AMOUNT_CAPS: '5411=1',
    PUBLIC_URL: 'not a url',
    BODY_BYTES_MAX: '-1',
  }
  expect(
    problemsOf(wrong)
      .map((problem) => problem.split(' ')[0])
      .sort(),
  ).toEqual(Object.keys(wrong).sort())
})

test('TRUST_PROXY is a number of proxies or their addresses, and false by default', () => {
  const read = (value: string) => readConfig({ TRUST_PROXY: value }).TRUST_PROXY
  expect(read('')).toBe(false)
  expect(read('false')).toBe(false)
  expect(read('1')).toBe(1)
  expect(read('10')).toBe(10)
  expect(read('10.0.0.5')).toEqual(['10.0.0.5'])
  expect(read('10.0.0.5, 10.1.0.0/16,fd00::/8')).toEqual(['10.0.0.5', '10.1.0.0/16', 'fd00::/8'])
})

test.each([
  '0',
  '11',
  '-1',
  '1.5',
  'yes',
  'loopback',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0',
  'fd00::/129',
  '10.0.0.5,',
  'proxy.example.com',
  '1, 10.0.0.5',
])('TRUST_PROXY=%s is rejected', (value) => {
  expect(problemsOf({ TRUST_PROXY: value })).toHaveLength(1)
})

test.each(['true', '0.0.0.0/0', '::/0', '10.0.0.5, 0.0.0.0/0'])(
  'TRUST_PROXY=%s, which trusts every address, is rejected with what to set',
  (value) => {
    expect(problemsOf({ TRUST_PROXY: value })).toEqual([expect.stringContaining('10.0.0.5, 10.1.0.0/16')])
  },
)

test('an error never repeats the value of a secret', () => {
  const problems = problemsOf({
    SVC_MASTER_KEY: 'canary',
    UPI_RAIL_KEYS: 'canary',
    DATABASE_URL: 'canary://u:canary@h',
    DATABASE_OPERATOR_URL: 'canary',
    DATABASE_OWNER_URL: 'canary',
  })
  expect(problems).toHaveLength(5)
  expect(problems.join()).not.toContain('canary')
})

test('live mode requires its own database and master key, and reports both at once', () => {
  expect(problemsOf({ SVC_MODE: 'live' }).map((problem) => problem.split(' ')[0])).toEqual([
    'DATABASE_URL',
    'SVC_MASTER_KEY',
  ])
  expect(problemsOf(LIVE)).toEqual([])
})

test('who issues invoices is set whole, with a GSTIN of the state by which GST is reckoned', () => {
  const supplier = { SUPPLIER_NAME: 'Pay', SUPPLIER_ADDRESS: 'Mumbai', SUPPLIER_GSTIN: '27AAGCB7383J1Z8' }
  expect(problemsOf(supplier)).toEqual([])
  expect(problemsOf({ ...supplier, GST_STATE: '29' })).toEqual([
    'SUPPLIER_GSTIN is of the state 27, and GST_STATE says 29',
  ])
  for (const name of Object.keys(supplier))
    expect(problemsOf({ ...supplier, [name]: '' })).toEqual([expect.stringContaining('set together')])
})

test('a printed configuration shows no secret', () => {
  const config = readConfig({
    ...LIVE,
    METRICS_TOKEN: 'canary-token',
    UPI_RAIL_KEYS: 'canary-rail-key-of-32-characters-or-more',
  })
  expect(`${inspect(config, { depth: 9, showHidden: true })}${JSON.stringify(config)}`).not.toMatch(
    new RegExp(`canary|${MASTER_KEY.slice(0, 20)}`),
  )
})

test.each(['0', '5.5', '1e3', ' 07x', '0x10', '-5', '９', '99999999999999999999'])(
  'a number that is not a whole one in range is rejected: %j',
  (text) => {
    expect(problemsOf({ TOKEN_TTL_SECONDS: text })).toHaveLength(1)
  },
)

test('every setting accepts its own default', () => {
  for (const [name, setting] of Object.entries(SETTINGS)) {
    if (setting.default !== undefined) expect(() => setting.read(setting.default!), name).not.toThrow()
    expect(setting.meaning.length, name).toBeGreaterThan(10)
  }
})

test('a setting without a default may be absent, in its type as well; one with a default is always present', () => {
  const config = readConfig({})
  for (const [name, { default: fallback }] of Object.entries(SETTINGS))
    expect(config[name as keyof Config] === undefined, name).toBe(fallback === undefined)
  type Names = keyof typeof SETTINGS
  type Absent = { [N in Names]: undefined extends Config[N] ? N : never }[Names]
  type WithoutDefault = { [N in Names]: undefined extends (typeof SETTINGS)[N]['default'] ? N : never }[Names]
  const same: [Absent, WithoutDefault] extends [WithoutDefault, Absent] ? true : never = true
  expect(same).toBe(true)
  // @ts-expect-error -- it has no default: whoever uses it must expect that it is not set
  const url: Secret = config.RATE_LIMIT_URL
  expect(url).toBeUndefined()
})

test('amount caps are read to the paisa, and a default among them is required', () => {
  const caps = readConfig({ QR_AMOUNT_CAPS: 'default=100000.5, 5411=20' }).QR_AMOUNT_CAPS
  expect([...caps]).toEqual([
    ['default', 10_000_050n],
    ['5411', 2_000n],
  ])
  for (const text of [
    '5411=20',
    'default=0',
    'default=-1',
    'default=1.001',
    'default',
    'default=1,541=2',
    'default=1,,',
  ])
    expect(problemsOf({ QR_AMOUNT_CAPS: text }).length, text).toBe(1)
})

test('in live mode PUBLIC_URL is https, but for this very machine', () => {
  const refused = 'PUBLIC_URL must begin with https: in live mode'
  for (const [address, isRefused] of [
    ['http://svc.example', true],
    ['http://192.0.2.7:8080', true],
    ['http://localhost.svc.example', true],
    ['http://127.0.0.1.svc.example', true],
    ['http://localhost:8080', false],
    ['http://127.0.0.1:8080', false],
    ['http://[::1]:8080', false],
    ['https://svc.example', false],
  ] as const) {
    const problems = problemsOf({ ...LIVE, PUBLIC_URL: address })
    expect([address, problems.some((problem) => problem.startsWith(refused))]).toEqual([address, isRefused])
  }
  expect(problemsOf({ PUBLIC_URL: 'http://svc.example' })).toEqual([])
})

test('idle sessions of the console end after 15 minutes in live mode and 30 in sandbox mode, unless a setting says otherwise', () => {
  expect(idleMinutes({ SVC_MODE: 'live' })).toBe(15)
  expect(idleMinutes({ SVC_MODE: 'sandbox' })).toBe(30)
  expect(idleMinutes({ SVC_MODE: 'live', CONSOLE_IDLE_MINUTES: 60 })).toBe(60)
})

const SPLIT = { ...LIVE, PUBLIC_URL: 'https://pay.example.com' }

test('ROLES are api, jobs and console, in any order, and all of them by default', () => {
  expect(readConfig({}).ROLES).toEqual(['api', 'jobs', 'console'])
  expect(readConfig({ ...SPLIT, ROLES: 'console, api,api' }).ROLES).toEqual(['api', 'console'])
})

test.each([
  [{ ...SPLIT, ROLES: 'api,worker' }, 'ROLES must be one or more of api, jobs, console, comma-separated'],
  [{ ...SPLIT, ROLES: ',' }, 'ROLES must be one or more of api, jobs, console, comma-separated'],
  [{ ROLES: 'api' }, 'ROLES must be api,jobs,console in sandbox mode, which needs all of them'],
  [{ WORKERS: '2' }, 'WORKERS must be 1 in sandbox mode'],
  [
    { ...LIVE, ROLES: 'jobs' },
    'PUBLIC_URL is needed with ROLES=jobs: callers reach all processes at one address',
  ],
  [
    { ...LIVE, WORKERS: '2' },
    'PUBLIC_URL is needed with WORKERS=2: callers reach all processes at one address',
  ],
  [
    { ...SPLIT, ROLES: 'jobs', WORKERS: '2' },
    'WORKERS must be 1 where ROLES is jobs: one process does all of it',
  ],
  [
    { ...SPLIT, ROLES: 'console', CONSOLE: 'off', PORTAL: 'off' },
    'ROLES must not be console alone where CONSOLE and PORTAL are off',
  ],
])('roles and workers that fit nothing are refused (%j)', (settings: Record<string, string>, problem) => {
  expect(problemsOf(settings)).toEqual([problem])
})

test.each([
  [{ ROLES: 'api' }, undefined],
  [{ ROLES: 'api,jobs' }, undefined],
  [{ ROLES: 'jobs' }, 'for jobs'],
  [{ ROLES: 'console' }, 'for the console'],
  [{ ROLES: 'console', CONSOLE: 'off' }, undefined],
  [{}, 'for the console'],
])('in live mode the login of operators is required where roles need it (%j)', (settings, purpose) => {
  const check = () => requireOperatorUrlOfRoles(readConfig({ ...SPLIT, ...settings }))
  if (purpose === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(`DATABASE_OPERATOR_URL is required in live mode ${purpose}`)
})

test('the login of rails is required only of processes that serve them', () => {
  const keys = { ...SPLIT, UPI_RAIL_KEYS: 'a-key-of-the-rail-with-more-than-32-characters' }
  expect(() => requireRailUrl(readConfig({ ...keys, ROLES: 'api' }))).toThrow('DATABASE_RAIL_URL is required')
  expect(() => requireRailUrl(readConfig({ ...keys, ROLES: 'jobs,console' }))).not.toThrow()
})
