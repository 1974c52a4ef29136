import { loadedCard, loadingPartner } from '@svc/console-api/faces/load-card'
import { loadToWire } from '@svc/core/cards/card/card-load'
import { type LoadCard, type Loading, loadCard, unloadCard } from '@svc/core/cards/card/load-card'
import { WaitingApproval } from '@svc/core/ledger/money-command'
import type { Paise } from '@svc/kernel/money'
import type { Command } from 'commander'
import { printOutcome } from './approval-commands.ts'
import { withInstallation } from './context.ts'
import { moneyActor } from './money-actor.ts'
import { printRecord } from './print.ts'
import { readReason } from './read-reason.ts'
import { readPaise } from './read-rupees.ts'

interface MoveOptions {
  readonly json?: boolean
  readonly amount: Paise
  readonly reference: string
  readonly reason: string
}

const DIRECTIONS = [
  {
    name: 'load',
    run: loadCard,
    action: 'card.loaded',
    description: 'load a card again, from its card account, on behalf of the partner',
    example: 'svc admin cards load card_… --amount 1500 --reference april-42 --reason "April allocation"',
  },
  {
    name: 'unload',
    run: unloadCard,
    action: 'card.unloaded',
    description: 'take money of a card back to its card account, where that has unallocateFundAllowed',
    example:
      'svc admin cards unload card_… --amount 250 --reference april-42-back --reason "left the company"',
  },
] as const

export function addLoadCommands(card: Command): void {
  for (const { name, run, action, description, example } of DIRECTIONS)
    card
      .command(`${name} <svcCardId>`)
      .description(description)
      .requiredOption('--amount <rupees>', 'rupees, at most two decimals', readPaise)
      .requiredOption('--reference <reference>', 'the partner’s own: a repeat returns the first one')
      .requiredOption('--reason <text>', 'why, for the books', readReason)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  ${example}`)
      .action(async (svcCardId: string, { amount, reference, reason, json = false }: MoveOptions) => {
        const outcome = await withInstallation(async (context) => {
          const { commands, config, database } = context
          const partnerId = await loadingPartner(database, svcCardId)
          const args: LoadCard = {
            partnerId,
            svcCardId,
            amountPaise: amount,
            referenceNumber: reference,
            reason,
          }
          const moved: Loading | WaitingApproval = await commands.open(run).run(args, {
            actor: await moneyActor(context),
            action,
            target: loadedCard,
            tenantId: partnerId,
          })
          return moved instanceof WaitingApproval ? moved : loadToWire(moved.load, config.BUSINESS_TIME_ZONE)
        })
        printOutcome(outcome, json, (load) => printRecord(load, json))
      })
}
