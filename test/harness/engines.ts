import { findSystemPostgres } from '../../packages/embedded-postgres/src/embedded.ts'

interface Engine {
  readonly name: string
  /** `package`, or the directory of a PostgreSQL's programs. */
  readonly binaries: string
}

const fifteen = findSystemPostgres().find(({ version }) => version.startsWith('15'))

/** The PostgreSQL servers that tests of the service run on. */
export const ENGINES: readonly Engine[] = [
  { name: 'postgres 18', binaries: 'package' },
  ...(fifteen ? [{ name: 'postgres 15', binaries: fifteen.binDir }] : []),
]
