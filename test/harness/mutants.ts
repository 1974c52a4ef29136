import type { SandboxFile } from '@svc/server/sandbox/sandbox-file'
import type { Mutant } from './mutant.ts'
import { accessMutants } from './mutants-access.ts'
import { cardMutants } from './mutants-cards.ts'
import { codeMutants } from './mutants-codes.ts'
import { coinMutants } from './mutants-coins.ts'
import { orderMutants } from './mutants-orders.ts'
import { pathMutants } from './mutants-paths.ts'
import { qrCodeMutants } from './mutants-qr-codes.ts'
import { searchMutants } from './mutants-searches.ts'
import { sessionMutants } from './mutants-sessions.ts'

/** Servers that are wrong in one way each, made anew for each use: some remember what they saw. */
export const mutantsOf = (sandbox: SandboxFile): readonly Mutant[] => [
  ...accessMutants(sandbox),
  ...qrCodeMutants(sandbox),
  ...orderMutants(sandbox),
  ...searchMutants(),
  ...coinMutants(sandbox),
  ...sessionMutants(),
  ...pathMutants(),
  ...cardMutants(),
  ...codeMutants(sandbox),
]
