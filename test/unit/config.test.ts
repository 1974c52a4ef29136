import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { ConfigError, readConfig, SETTINGS } from '../../src/config.ts'

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const LIVE = {
  SVC_MODE: 'live',
  DATABASE_URL: 'postgresql://u:canary@127.0.0.1/db',
  SVC_MASTER_KEY: MASTER_KEY,
}

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

test('without any environment the service runs as a sandbox on loopback', () => {
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

test('all faults are told at once, each by the setting’s name', () => {
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
    faultsOf(wrong)
      .map((fault) => fault.split(' ')[0])
      .sort(),
  ).toEqual(Object.keys(wrong).sort())
})

test('a fault never repeats the value of a secret', () => {
  const faults = faultsOf({
    SVC_MASTER_KEY: 'canary',
    UPI_RAIL_KEYS: 'canary',
    DATABASE_URL: 'canary://u:canary@h',
    DATABASE_OWNER_URL: 'canary',
  })
  expect(faults).toHaveLength(4)
  expect(faults.join()).not.toContain('canary')
})

test('live mode needs its own database and master key, and asks for both at once', () => {
  expect(faultsOf({ SVC_MODE: 'live' }).map((fault) => fault.split(' ')[0])).toEqual([
    'DATABASE_URL',
    'SVC_MASTER_KEY',
  ])
  expect(faultsOf(LIVE)).toEqual([])
})

test('a configuration that is printed shows no secret', () => {
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
  'a number that is not a whole one in range is refused: %j',
  (text) => {
    expect(faultsOf({ TOKEN_TTL_SECONDS: text })).toHaveLength(1)
  },
)

test('every setting’s own default is one that it accepts', () => {
  for (const [name, setting] of Object.entries(SETTINGS)) {
    if (setting.default !== undefined) expect(() => setting.read(setting.default!), name).not.toThrow()
    expect(setting.meaning.length, name).toBeGreaterThan(10)
  }
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
    expect(faultsOf({ QR_AMOUNT_CAPS: text }).length, text).toBe(1)
})
