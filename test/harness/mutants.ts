import type { SandboxFile } from '@svc/server/sandbox/demo'
import type { Mutant } from './mutant.ts'
import { accessMutants } from './mutants-access.ts'
import { coinMutants } from './mutants-coins.ts'
import { orderMutants } from './mutants-orders.ts'
import { qrCodeMutants } from './mutants-qr-codes.ts'
import { searchMutants } from './mutants-searches.ts'

/** Servers that are wrong in one way each, made anew for each use: some remember what they saw. */
export const mutantsOf = (sandbox: SandboxFile): readonly Mutant[] => [
  ...accessMutants(sandbox),
  ...qrCodeMutants(sandbox),
  ...orderMutants(sandbox),
  ...searchMutants(),
  ...coinMutants(sandbox),
]
