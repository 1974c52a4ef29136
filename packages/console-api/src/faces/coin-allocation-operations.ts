import { fail } from '@svc/contract/errors'
import {
  LIABILITY_FIELDS,
  liabilityToWire,
  RupeesPerCoin,
  readCoinLiability,
} from '@svc/core/coins/coin-liability'
import { VoidRecord, voidToWire } from '@svc/core/coins/coin-void'
import { voidAllocation } from '@svc/core/coins/void-allocation'
import { statement } from '@svc/platform/db/statement'
import { readVoid, VoidReason } from '@svc/server/coins/allocation-changes'
import { operation, query } from '@svc/server/http/operation'
import { Type } from 'typebox'
import { auditOf } from '../as-operator.ts'
import { CONSOLE_API, closed, consoleOperation, exact, idParam, record, text } from '../console-schema.ts'

const TAG = 'Coins'
const PARTNER = statement<{ readonly partnerId: string }>(
  'console_coin_allocation',
  'select partner_id as "partnerId" from coin_lots where lot_id = $1',
)

export const voidCoinAllocationInConsole = operation({
  ...consoleOperation,
  id: 'console.voidCoinAllocation',
  stepUp: true,
  method: 'POST',
  path: `${CONSOLE_API}/coin-allocations/:allocationId/void`,
  tag: TAG,
  summary: 'Void coin allocation',
  description: 'Takes back what is pending or remains of it, and by `COIN_CLAWBACK` other coins of the user.',
  permission: 'finance',
  params: idParam('allocationId'),
  body: closed({ reason: VoidReason }),
  result: VoidRecord,
  errors: ['coin_allocation_not_found', 'coin_allocation_voided', 'user_erased'],
  run: voidAllocation,
  args: async ({ body: { reason }, params: { allocationId } }, { database }) => {
    const [found] = await database.operate((tx) => tx.query(PARTNER, [allocationId]))
    const { partnerId } = found ?? fail('coin_allocation_not_found')
    // An allocation is voided once: a second request of the console fails, whatever its id.
    const requestId = `console/${allocationId}`
    return { ...readVoid(partnerId, allocationId, { requestId, reason }), actor: 'operator' as const }
  },
  // The void has the reason: it may name a person (decision O7).
  audit: ({ partnerId, allocationId }, input) =>
    auditOf(partnerId, input, { action: 'coins.voided', target: allocationId }),
  reply: ({ done }, { timeZone }) => ({ status: 200, body: JSON.stringify(voidToWire(done, timeZone)) }),
})

export const showCoinLiability = query({
  ...consoleOperation,
  id: 'console.showCoinLiability',
  method: 'GET',
  path: `${CONSOLE_API}/coin-liability`,
  tag: TAG,
  summary: 'Show coins that users of each partner hold',
  permission: 'view',
  query: closed({
    partnerId: exact('Of this partner'),
    rupeesPerCoin: Type.Optional(RupeesPerCoin),
  }),
  result: closed({
    data: Type.Array(record('CoinLiability', { partnerId: text(), ...LIABILITY_FIELDS })),
  }),
  errors: [],
  mount({ clock, database }) {
    return async ({ query: { partnerId, rupeesPerCoin } }) => {
      const found = await database.report((tx) => readCoinLiability(tx, clock, partnerId))
      const data = found.map((row) => ({
        partnerId: row.partnerId,
        ...liabilityToWire(row, rupeesPerCoin),
      }))
      return { body: JSON.stringify({ data }) }
    }
  },
})
