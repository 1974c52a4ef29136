import { liabilityToWire, readCoinLiability } from '@svc/core/coins/coin-liability'
import { systemClock } from '@svc/kernel/time'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printJson, printRows } from './print.ts'
import { readRupeesPerCoin } from './read-rupees-per-coin.ts'
import { flat } from './remote.ts'

interface LiabilityOptions {
  readonly rupeesPerCoin?: string
  readonly json?: boolean
}

export function addCoinCommands(program: Command): void {
  program
    .command('coins')
    .description('coins that users hold')
    .command('liability [partnerId]')
    .description('coins that users hold, for each partner, and how many of them expire soon')
    .option('--rupees-per-coin <rupees>', 'what a coin is worth, to value the coins', readRupeesPerCoin)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin coins liability --rupees-per-coin 0.25')
    .action(async (partnerId: string | undefined, { json = false, rupeesPerCoin }: LiabilityOptions) => {
      const found = await withInstallation(({ database }) =>
        database.operate((tx) => readCoinLiability(tx, systemClock, partnerId ?? null)),
      )
      const rows = found.map((row) => ({
        partnerId: row.partnerId,
        ...liabilityToWire(row, rupeesPerCoin),
      }))
      if (json) printJson(rows)
      else printRows(rows.map(flat), false)
    })
}
