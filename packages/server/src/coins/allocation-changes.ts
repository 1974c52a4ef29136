import { createHash } from 'node:crypto'
import { ActivationRecord, activationToWire } from '@svc/core/coins/allocation'
import { VoidRecord, voidToWire } from '@svc/core/coins/coin-void'
import { confirmAllocation } from '@svc/core/coins/confirm-allocation'
import { voidAllocation } from '@svc/core/coins/void-allocation'
import { canonicalJson } from '@svc/kernel/canonical-json'
import { Type } from 'typebox'
import { Reason } from '../http/fields.ts'
import { NoFields, ok, operation } from '../http/operation.ts'
import { RequestId } from './allocations.ts'
import { ofCoins } from './coin-configs.ts'

export const AllocationParams = Type.Object({
  allocationId: Type.String({ description: 'The id that the allocation returned' }),
})

export const VoidReason = Reason('Why, for the history')

/** Not in the specification (decision K10). */
export const confirmCoinAllocation = operation({
  ...ofCoins('coins:write'),
  id: 'confirmCoinAllocation',
  method: 'POST',
  path: '/api/v0/svc-coins/allocations/:allocationId/confirm',
  summary: 'Confirm a pending coin allocation',
  description:
    'Makes an allocation active that waits for confirmation; its coins last from then on. Confirming again returns the first response.',
  params: AllocationParams,
  body: NoFields,
  result: ActivationRecord,
  errors: [
    'coin_allocation_not_found',
    'coin_allocation_not_awaiting_confirmation',
    'coin_allocation_voided',
  ],
  run: confirmAllocation,
  args: ({ caller, params: { allocationId } }) => ({ partnerId: caller.tenantId, allocationId }),
  reply: ({ allocation }, { timeZone }) => ok(activationToWire(allocation, timeZone)),
})

/** The void of an allocation as the command has it. */
export const readVoid = (
  partnerId: string,
  allocationId: string,
  { requestId, reason }: { readonly requestId: string; readonly reason: string },
) => ({
  partnerId,
  allocationId,
  requestId,
  requestHash: createHash('sha256').update(canonicalJson({ allocationId, reason })).digest(),
  reason,
})

/** Not in the specification (decision K12). */
export const voidCoinAllocation = operation({
  ...ofCoins('coins:write'),
  id: 'voidCoinAllocation',
  method: 'POST',
  path: '/api/v0/svc-coins/allocations/:allocationId/void',
  summary: 'Void a coin allocation',
  description:
    'Takes back what is pending or remains of the allocation. With `COIN_CLAWBACK=wallet`, coins of the user’s other allocations replace those that were spent, as far as there are; `shortfall` is what nothing replaced. An allocation is voided once. A repeat of the same `requestId` gets the first response, with another request 409.',
  params: AllocationParams,
  body: Type.Object({ requestId: RequestId, reason: VoidReason }, { additionalProperties: false }),
  result: VoidRecord,
  errors: ['coin_allocation_not_found', 'coin_allocation_voided', 'user_erased', 'request_id_conflict'],
  run: voidAllocation,
  args: ({ caller, params: { allocationId }, body }) => ({
    ...readVoid(caller.tenantId, allocationId, body),
    actor: 'partner' as const,
  }),
  reply: ({ done }, { timeZone }) => ok(voidToWire(done, timeZone)),
})
