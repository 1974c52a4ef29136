import { statement } from '@svc/platform/db/statement'
import type { Command } from 'commander'
import { withInstallation } from './context.ts'
import { printRows } from './print.ts'

interface Liability {
  readonly partner_id: string
  readonly users: bigint
  readonly coins: bigint
  readonly within_30: bigint
  readonly within_90: bigint
  readonly never: bigint
}

// Coins past their time count for nothing, whether or not they have been written off yet.
const LIABILITY = statement<Liability>(
  'cli_coin_liability',
  `select l.partner_id, count(distinct l.user_id) as users, sum(l.remaining)::bigint as coins,
     coalesce(sum(l.remaining) filter (where l.expires_at <= now() + interval '30 days'), 0)::bigint as within_30,
     coalesce(sum(l.remaining) filter (where l.expires_at <= now() + interval '90 days'), 0)::bigint as within_90,
     coalesce(sum(l.remaining) filter (where l.expires_at is null), 0)::bigint as never
   from coin_lots l
   where l.remaining > 0 and (l.expires_at is null or l.expires_at > now()) and ($1::text is null or l.partner_id = $1)
   group by l.partner_id order by l.partner_id`,
)

export function addCoinCommands(program: Command): void {
  program
    .command('coins')
    .description('coins that users hold')
    .command('liability [partnerId]')
    .description('coins that users can still redeem, for each partner, and how many of them expire soon')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin coins liability')
    .action(async (partnerId: string | undefined, { json = false }: { json?: boolean }) => {
      const rows = await withInstallation(({ database }) =>
        database.operate((tx) => tx.query(LIABILITY, [partnerId ?? null])),
      )
      printRows(
        rows.map((row) => ({
          partnerId: row.partner_id,
          users: Number(row.users),
          coins: Number(row.coins),
          expireWithin30Days: Number(row.within_30),
          expireWithin90Days: Number(row.within_90),
          neverExpire: Number(row.never),
        })),
        json,
      )
    })
}
