import { showCoinLiability } from '@svc/console-api/faces/coin-allocation-operations'
import type { Command } from 'commander'
import { addOperation } from './operation-command.ts'

export function addCoinCommands(program: Command): void {
  addOperation(program.command('coins').description('coins that users hold'), showCoinLiability, {
    name: 'liability',
    by: ['partnerId?'],
    description: 'coins that users hold, for each partner, and how many of them expire soon',
    example: 'svc admin coins liability --rupees-per-coin 0.25',
    shown: ({ data }: { readonly data: readonly object[] }) => data,
  })
}
