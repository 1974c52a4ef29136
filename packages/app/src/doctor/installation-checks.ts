import { statfs } from 'node:fs/promises'
import { PROCESS_ROLES } from '@svc/contract/process-settings'
import { KeyProviderFailed } from '@svc/platform/crypto/key-provider'
import { MasterKeys } from '@svc/platform/crypto/master-keys'
import {
  CONNECTED_ROLES,
  connectionOptions,
  type Login,
  settingOf,
} from '@svc/platform/db/connection-options'
import { NotDurable, requireDurable } from '@svc/platform/db/durable'
import { beforeBaseline, isBeforeBaseline } from '@svc/platform/db/migrate'
import { migrationNames } from '@svc/platform/db/migration-files'
import { requireSessions, TransactionPooling } from '@svc/platform/db/session'
import { keyProviderOf } from '../key-provider.ts'
import { ALWAYS, type Check, fail, type Patient, pass, rowsOf, warn } from './finding.ts'

/** The logins of this process: a process has only those that it needs. */
const loginsOf = ({ config, address }: Patient): (Login | undefined)[] => {
  if ('host' in address) return ['svc_service']
  return [
    'svc_service',
    ...(config.DATABASE_OPERATOR_URL ? (['svc_operator'] as const) : []),
    ...(config.DATABASE_RAIL_URL ? (['svc_rail'] as const) : []),
    ...(config.DATABASE_OWNER_URL ? [undefined] : []),
  ]
}

const OLDEST_SERVER = 150_000

export const server: Check = {
  name: 'server',
  stages: ALWAYS,
  async examine({ connect }) {
    const client = await connect('svc_service')
    const [row] = await rowsOf<{ version: string; number: number; standby: boolean }>(
      client,
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
         pg_is_in_recovery() as standby`,
    )
    const { version, number, standby } = row!
    if (number < OLDEST_SERVER) return [fail(`PostgreSQL ${version}; version 15 or later is needed`)]
    if (standby) return [fail(`PostgreSQL ${version} is a standby; DATABASE_URL must lead to the primary`)]
    return [pass(`PostgreSQL ${version}, accepts writes`)]
  },
}

export const durability: Check = {
  name: 'durability',
  stages: ALWAYS,
  async examine(patient) {
    const { config, connect } = patient
    const findings = []
    for (const login of loginsOf(patient).filter((each) => each !== undefined))
      try {
        await requireDurable(await connect(login), config.REPLICATION)
        findings.push(pass(`${settingOf(login)}: acknowledged writes are kept`))
      } catch (error) {
        if (!(error instanceof NotDurable)) throw error
        const grade = config.SVC_MODE === 'live' ? fail : warn
        findings.push(grade(`${settingOf(login)}: ${error.message}`))
      }
    return findings
  },
}

export const sessions: Check = {
  name: 'sessions',
  stages: ALWAYS,
  async examine(patient) {
    const { address } = patient
    if ('host' in address) return [pass('no pooler is in between')]
    const findings = []
    for (const login of loginsOf(patient))
      try {
        await requireSessions(connectionOptions(address, undefined, login), settingOf(login))
        findings.push(pass(`${settingOf(login)}: each connection has a session of its own`))
      } catch (error) {
        if (!(error instanceof TransactionPooling)) throw error
        findings.push(fail(error.message))
      }
    return findings
  },
}

interface Rights {
  login: string
  superuser: boolean
  bypasses: boolean
  inherits: boolean
  roles: string[]
}

const RIGHTS = `select session_user::text as login, rolsuper as superuser, rolbypassrls as bypasses,
  rolinherit as inherits,
  array(select rolname::text from pg_roles where rolname in ('svc_owner', 'svc_service', 'svc_operator', 'svc_rail')
    and pg_has_role(session_user, oid, 'member') order by rolname) as roles
  from pg_roles where rolname = session_user`

const WANTED: Readonly<Record<string, readonly string[]>> = {
  svc_service: ['svc_service'],
  svc_operator: ['svc_operator', 'svc_service'],
  svc_rail: ['svc_rail', 'svc_service'],
  owner: ['svc_owner'],
}

export const logins: Check = {
  name: 'logins',
  stages: ALWAYS,
  async examine(patient) {
    const grade = patient.config.SVC_MODE === 'live' ? fail : warn
    const findings = []
    for (const login of loginsOf(patient)) {
      const [rights] = await rowsOf<Rights>(await patient.connect(login), RIGHTS)
      const { login: name, superuser, bypasses, inherits, roles } = rights!
      const wanted = WANTED[login ?? 'owner']!
      const missing = wanted.filter((role) => !roles.includes(role))
      const beyond = roles.filter((role) => !wanted.includes(role))
      const who = `${settingOf(login)} (${name})`
      if (superuser || bypasses)
        findings.push(
          grade(`${who} is a superuser or bypasses row-level security; use a login without these rights`),
        )
      else if (missing.length > 0)
        findings.push(grade(`${who} lacks ${missing.join(', ')}; grant ${missing.join(', ')} to ${name}`))
      else if (beyond.length > 0)
        findings.push(
          grade(`${who} has ${beyond.join(', ')} besides; revoke ${beyond.join(', ')} from ${name}`),
        )
      else if (login === 'svc_operator' && inherits)
        findings.push(grade(`${who} has the rights of both roles at once; alter role ${name} noinherit`))
      else findings.push(pass(`${who} has ${roles.join(', ')} and no more`))
    }
    return findings
  },
}

export const schema: Check = {
  name: 'schema',
  stages: ['running'],
  async examine({ connect }) {
    const run = (
      await rowsOf<{ name: string }>(await connect('svc_service'), 'select name from svc.migrations')
    ).map(({ name }) => name)
    const names = await migrationNames()
    if (isBeforeBaseline(run, names)) return [fail(beforeBaseline(run))]
    const missing = names.filter((name) => !run.includes(name))
    const unknown = run.filter((name) => !names.includes(name))
    if (missing.length > 0)
      return [fail(`${missing.length} migrations are missing, from ${missing[0]} on; run svc admin migrate`)]
    if (unknown.length > 0) return [warn(`the schema is newer than this program, by ${unknown.join(', ')}`)]
    return [pass(`all ${names.length} migrations were run`)]
  },
}

export const keys: Check = {
  name: 'keys',
  stages: ['running'],
  async examine({ config, connect }) {
    // The sandbox keeps its master key itself.
    if (!config.SVC_MASTER_KEY && !config.SVC_MASTER_KEY_WRAPPED) return [pass('the sandbox’s master key')]
    let known: readonly string[]
    try {
      known = new MasterKeys(await keyProviderOf(config).masterKeys()).ids
    } catch (error) {
      if (!(error instanceof KeyProviderFailed)) throw error
      return [fail(error.message)]
    }
    const rows = await rowsOf<{ wrapped_by: string; count: number }>(
      await connect('svc_service'),
      'select wrapped_by, count(*)::int as count from svc.keyring group by 1 order by 1',
    )
    const lost = rows.filter(({ wrapped_by: by }) => !known.includes(by))
    const earlier = rows.filter(({ wrapped_by: by }) => by !== known[0])
    const list = (of: typeof rows) => of.map(({ wrapped_by: by, count }) => `${count} by ${by}`).join(', ')
    if (lost.length > 0)
      return [
        fail(
          `keys are wrapped by a master key that SVC_MASTER_KEY does not have: ${list(lost)}; add that master key behind a comma`,
        ),
      ]
    if (earlier.length > 0)
      return [
        warn(
          `keys are still wrapped by a previous master key: ${list(earlier)}; when every process has ${known[0]}, run svc admin keys rewrap`,
        ),
      ]
    return [pass(`all data keys are wrapped by ${known[0]}`)]
  },
}

const RAILS = {
  UPI_RAIL_KEYS: '/rails/upi',
  BANK_RAIL_KEYS: '/rails/bank',
  CARD_RAIL_KEYS: '/rails/cards',
} as const

/** Missing keys are no problem: not every installation has every rail. But what a bank reports is refused until they are set. */
export const railKeys: Check = {
  name: 'rail_keys',
  stages: ALWAYS,
  async examine({ config }) {
    if (config.SVC_MODE === 'sandbox') return [pass('a rail without its own keys has those of the sandbox')]
    const names = Object.keys(RAILS) as (keyof typeof RAILS)[]
    const missing = names.filter((name) => !config[name])
    if (missing.length === 0) return [pass('every rail has keys')]
    return missing.map((name) =>
      warn(`${name} is not set: every notice at ${RAILS[name]} is refused with 401; set it in each process`),
    )
  },
}

const CLOCK_WARN_MS = 500
const CLOCK_FAIL_MS = 5_000

export const clock: Check = {
  name: 'clock',
  stages: ALWAYS,
  async examine({ connect }) {
    const client = await connect('svc_service')
    const sentMs = Date.now()
    const [row] = await rowsOf<{ ms: number }>(
      client,
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    )
    const roundMs = Date.now() - sentMs
    const apartMs = Math.max(0, Math.round(Math.abs(row!.ms - (sentMs + roundMs / 2)) - roundMs / 2))
    const detail = `this machine and the database are ${apartMs} ms apart`
    if (apartMs > CLOCK_FAIL_MS) return [fail(`${detail}; synchronize both by NTP`)]
    return [apartMs > CLOCK_WARN_MS ? warn(`${detail}; synchronize both by NTP`) : pass(detail)]
  },
}

const DISK_WARN = 0.1
const DISK_FAIL = 0.02

export const disk: Check = {
  name: 'disk',
  stages: ALWAYS,
  async examine({ config, address }) {
    if ('url' in address) return [pass('the database has a disk of its own; monitor its free space there')]
    const { bavail, blocks } = await statfs(config.DATA_DIR)
    const free = bavail / blocks
    const detail = `${Math.round(free * 100)} % of the disk of DATA_DIR is free`
    return [free < DISK_FAIL ? fail(detail) : free < DISK_WARN ? warn(detail) : pass(detail)]
  },
}

const UNDONE = {
  api: 'nothing serves the API and the rails',
  jobs: 'no event is numbered, no webhook delivered, nothing that is due is done',
  console: 'nothing serves the console and the portal',
} as const

/** Processes that serve may share the work (`ROLES`); together they have to do all of it. */
export const roles: Check = {
  name: 'roles',
  stages: ['running'],
  async examine({ connect }) {
    const rows = await rowsOf<{ role: string }>(await connect('svc_service'), CONNECTED_ROLES)
    const connected = new Set(rows.map(({ role }) => role))
    if (connected.size === 0) return [warn('no process of the service is connected to the database')]
    const missing = PROCESS_ROLES.filter((role) => !connected.has(role))
    if (missing.length === 0) return [pass(`processes with ${PROCESS_ROLES.join(', ')} are connected`)]
    return missing.map((role) =>
      warn(`no process with the role ${role} is connected: ${UNDONE[role]}; start one with ROLES=${role}`),
    )
  },
}
