import type { Chance } from './chance.ts'

/** What can go wrong with one statement. `before` and `after`: whether the server had carried it out. */
export type Fault =
  | { readonly kind: 'error'; readonly code: string }
  | { readonly kind: 'cut before' | 'cut after' | 'crash before' | 'crash after' | 'refused' }
  | { readonly kind: 'slow'; readonly ms: number }

/** The server raises the error itself, so that the transaction is as broken as it would be. */
export const faultText = (code: string): string =>
  `do $$ begin raise exception 'injected ${code}' using errcode = '${code}'; end $$`

/** SQLSTATEs (PostgreSQL manual, appendix A): what storage, administrators and other transactions do to a statement. */
export const TROUBLES = {
  /** admin_shutdown, connection_failure, disk_full, too_many_connections, io_error */
  anywhere: ['57P01', '08006', '53100', '53300', '58030'],
  /** serialization_failure, deadlock_detected, lock_not_available: only those who write meet these. */
  inBatch: ['40001', '40P01', '55P03'],
} as const

/** What goes wrong next, by chance. */
export function drawFault(chance: Chance, atCommit: boolean): Fault {
  const kind = chance.weighted({
    'cut before': 5,
    'cut after': 7,
    'crash before': 1,
    'crash after': 1.5,
    slow: 2,
    error: atCommit ? 2 : 8,
    refused: atCommit ? 0 : 1,
  })
  if (kind === 'slow') return { kind, ms: chance.pick([50, 900, 3_000, 12_000]) }
  if (kind === 'error') return { kind, code: chance.pick([...TROUBLES.anywhere, ...TROUBLES.inBatch]) }
  return { kind }
}
