import { Type } from 'typebox'
import { storedArgs } from './stored-args.ts'

/** Arguments of a reversal that waits for a second person. */
export const STORED_REVERSAL = storedArgs(
  Type.Object({ tenantId: Type.String(), journalId: Type.String(), reason: Type.String() }),
)
