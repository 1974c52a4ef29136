import type pg from 'pg'
import type { openAccess } from './access.ts'
import type { Config } from './config.ts'

export interface Services {
  readonly config: Config
  readonly pool: pg.Pool
  readonly access: Awaited<ReturnType<typeof openAccess>>
}
