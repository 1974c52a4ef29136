import { Failure } from '@svc/contract/errors'
import { newId } from '@svc/contract/id-kinds'
import { listAllPayouts, payoutRuns, payoutsOfRun } from '@svc/core/payments/payouts/find-payouts'
import type { Payout } from '@svc/core/payments/payouts/payout'
import { formatRupees } from '@svc/kernel/money'
import type { Command } from 'commander'
import { addBankFileCommands } from './bank-file.ts'
import type { CommandContext } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { addPayoutImport } from './payout-import.ts'
import { changeInName } from './payout-steps.ts'

const CHUNK = 1_000

export function addPayoutFileCommands(payout: Command): void {
  addBankFileCommands<Payout>(payout, {
    name: 'payout',
    waiting: 'approved',
    fields: {
      payoutId: { of: ({ payoutId }) => payoutId },
      amount: { of: ({ amountPaise }) => formatRupees(amountPaise) },
      accountNumber: { of: ({ accountNumber }) => accountNumber },
      ifsc: { of: ({ ifsc }) => ifsc },
      // Letters, digits and spaces: no spreadsheet takes a name for a formula.
      accountHolder: {
        of: ({ accountHolder }) =>
          accountHolder.replace(/[^\p{L}\p{M}\p{N} .&'-]/gu, ' ').replace(/^[^\p{L}\p{N}]+/u, ''),
      },
    },
    id: ({ payoutId }) => payoutId,
    example: 'accountNumber=ACCOUNT,ifsc=IFSC,amount=AMOUNT,payoutId=REFERENCE',
    send: sendApproved,
    ofRun: ({ database }, runId) => database.operate((tx) => payoutsOfRun(tx, runId)),
    runs: async ({ database }, limit) => {
      const runs = await database.operate((tx) => payoutRuns(tx, limit))
      return runs.map(({ payouts, ...run }) => ({ ...run, count: payouts }))
    },
  })
  addPayoutImport(payout)
}

/** A payout that another run takes meanwhile stays in that run. */
async function sendApproved(context: CommandContext): Promise<string> {
  const { database, keyMaker } = context
  const actor = await moneyActor(context)
  const runId = newId('pyr', Date.now(), keyMaker.random)
  for (let approved: Payout[] = []; ; ) {
    approved = await database.operate((tx) => listAllPayouts(tx, { status: 'APPROVED', limit: CHUNK }))
    for (const payout of approved)
      await changeInName(context, payout, { to: 'SENT', runId }, actor).catch((error: unknown) => {
        if (!(error instanceof Failure && error.code === 'payout_state')) throw error
      })
    if (approved.length < CHUNK) return runId
  }
}
