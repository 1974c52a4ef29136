import type { Config } from '@svc/contract/config'
import type { DatabaseAddress, Login } from '@svc/platform/db/connection-options'
import type pg from 'pg'

/** `FAIL`: the service does not start, or may lose or show what it must not. `WARN`: it will be trouble. */
export type Status = 'PASS' | 'WARN' | 'FAIL'

export interface Finding {
  /** Short and stable, such as `replication_slots`. */
  readonly check: string
  readonly status: Status
  /** What was found, and where it is not well what to do. */
  readonly detail: string
}

export interface Patient {
  readonly config: Config
  readonly address: DatabaseAddress
  /** A connection with the login of this kind; closed after the examination. */
  readonly connect: (login: Login | undefined) => Promise<pg.ClientBase>
}

/** Before the first start there is no schema and there are no keys. */
export type Stage = 'preflight' | 'running'

export interface Check {
  readonly name: string
  readonly stages: readonly Stage[]
  readonly examine: (patient: Patient) => Promise<readonly Omit<Finding, 'check'>[]>
}

export const pass = (detail: string) => ({ status: 'PASS', detail }) as const
export const warn = (detail: string) => ({ status: 'WARN', detail }) as const
export const fail = (detail: string) => ({ status: 'FAIL', detail }) as const

export const ALWAYS: readonly Stage[] = ['preflight', 'running']

/** Bytes as people read them. */
export const sizeOf = (bytes: number): string =>
  bytes < 1e6
    ? `${Math.round(bytes / 1e3)} kB`
    : bytes < 1e9
      ? `${Math.round(bytes / 1e6)} MB`
      : `${(bytes / 1e9).toFixed(1)} GB`

export async function rowsOf<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows
}
