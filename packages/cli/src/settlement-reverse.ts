import { fail } from '@svc/contract/errors'
import { reverseBatch } from '@svc/core/payments/settlements/reverse-batch'
import { takenBackToWire } from '@svc/core/payments/settlements/taken-back'
import { settlement } from '@svc/server/payments/settlement-resource'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { type CommandContext, withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { readRecords } from './noun-commands.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { UsageError } from './usage-error.ts'

interface Options {
  readonly reason: string
  readonly json?: boolean
}

export function addReverseCommand(settlement: Command): void {
  settlement
    .command('reverse <id>')
    .description('take back a transfer that was recorded by mistake, as a whole, by its id or its reference')
    .requiredOption('--reason <text>', 'why; it is in the journals', readReason)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
What the transfer has moved is entered the other way round today, and its lines are gone: payments are not settled any
more, and their merchants are notified. Import the right file afterwards. A transfer that a bank statement shows stays:
svc admin statement unmatch.

Example:
  svc admin settlement reverse HDFCN526001 --reason "file of another account"`,
    )
    .action(reverse)
}

/** By its id, or by its reference where only one rail has it. */
async function batchIdOf(context: CommandContext, id: string): Promise<string> {
  const found = (await readRecords(context, settlement, { q: id }, 2)) as { readonly batchId: string }[]
  if (found.length > 1) throw new UsageError(`Both rails have a transfer ${id}: name the id of one`)
  return found[0]?.batchId ?? fail('settlement_not_found')
}

async function reverse(id: string, { json = false, reason }: Options): Promise<void> {
  const reversed = await withInstallation(async (context) => {
    const actor = await moneyActor(context)
    const batchId = await batchIdOf(context, id)
    const audit = { actor, action: 'settlement_batch.reversed', target: batchId, details: { reason } }
    return context.commands.open(reverseBatch).run({ batchId, reason }, audit)
  })
  printOutcome(reversed, json, ({ batch, isRepeat, whole }) =>
    printRecord(takenBackToWire(batch, whole, isRepeat), json),
  )
}
