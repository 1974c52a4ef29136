import type { Config } from '@svc/contract/config'
import { connectionOptions, type DatabaseAddress, type Login } from '@svc/platform/db/connection-options'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import { cells } from './cell-checks.ts'
import {
  connections,
  deadRows,
  longTransactions,
  partitions,
  replication,
  slots,
  standby,
  wraparound,
} from './database-checks.ts'
import type { Check, Finding, Patient, Stage } from './finding.ts'
import {
  clock,
  disk,
  durability,
  keys,
  logins,
  railKeys,
  roles,
  schema,
  server,
  sessions,
} from './installation-checks.ts'
import { retiredKeys } from './retired-keys.ts'

export const CHECKS: readonly Check[] = [
  server,
  sessions,
  logins,
  durability,
  replication,
  standby,
  slots,
  connections,
  roles,
  clock,
  disk,
  wraparound,
  schema,
  keys,
  retiredKeys,
  railKeys,
  deadRows,
  longTransactions,
  partitions,
  cells,
]

/** Examines an installation and changes nothing. A check that breaks off is a failure, with its cause. */
export async function examine(config: Config, address: DatabaseAddress, stage: Stage): Promise<Finding[]> {
  const open = new Map<Login | undefined, Promise<DatabaseClient>>()
  const connect: Patient['connect'] = (login) => {
    const known = open.get(login) ?? newClient(address, login)
    open.set(login, known)
    return known
  }
  const findings: Finding[] = []
  try {
    for (const { name, stages, examine: run } of CHECKS) {
      if (!stages.includes(stage)) continue
      try {
        for (const finding of await run({ config, address, connect }))
          findings.push({ check: name, ...finding })
      } catch (error) {
        findings.push({ check: name, status: 'FAIL', detail: (error as Error).message })
      }
    }
  } finally {
    for (const client of open.values()) await client.then((each) => each.end()).catch(() => undefined)
  }
  return findings
}

/** As the login itself: before the first start no role can be taken on. */
async function newClient(address: DatabaseAddress, login: Login | undefined): Promise<DatabaseClient> {
  const options =
    'host' in address
      ? connectionOptions(address, login === 'svc_operator' ? login : 'svc_service')
      : connectionOptions(address, undefined, login)
  const client = new DatabaseClient(options)
  client.on('error', () => undefined)
  await client.connect()
  return client
}
