import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { readCount } from './read-count.ts'
import { openProfile, pathWith, type RemoteOptions, remote, show } from './remote.ts'
import type { ApiPath } from './tenant-session.ts'

const COINS = '/api/v0/svc-coins'

const ofUser = (userId: string, what: string): ApiPath =>
  `${COINS}/users/${encodeURIComponent(userId)}/${what}`
const ofAllocation = (allocationId: string, what = ''): ApiPath =>
  `${COINS}/allocations/${encodeURIComponent(allocationId)}${what}`

interface VoidOptions extends RemoteOptions {
  readonly reason: string
  readonly requestId?: string
}

/** Coins of a partner's users, as the tenant of a profile reads and changes them. */
export function addUserCoinCommands(program: Command): void {
  const coins = program
    .command('coins')
    .description('coins of users, as the partner of a profile has them; svc admin coins has those of all')
  remote(coins.command('balance <userId>'))
    .description('show the balance of a user')
    .addHelpText('after', '\nExample:\n  svc coins balance usr_…')
    .action(async (userId: string, options: RemoteOptions) => {
      const session = await openProfile(options, 'partner')
      show(await session.call<object>('GET', ofUser(userId, 'balance')), options)
    })
  remote(coins.command('history <userId>'))
    .description('list what a user earned, redeemed and lost, newest first')
    .option('--limit <count>', 'how many', readCount, 50)
    .addHelpText('after', '\nExample:\n  svc coins history usr_… --limit 10')
    .action(async (userId: string, options: RemoteOptions & { readonly limit: number }) => {
      const session = await openProfile(options, 'partner')
      const path = pathWith(ofUser(userId, 'history'), { limit: options.limit })
      show((await session.call<{ data: readonly object[] }>('GET', path)).data, options)
    })
  remote(coins.command('liability'))
    .description('show what all users hold, and how much of it expires soon')
    .option('--rupees-per-coin <rupees>', 'what a coin is worth, to value the coins')
    .addHelpText('after', '\nExample:\n  svc coins liability --rupees-per-coin 0.25')
    .action(async (options: RemoteOptions & { readonly rupeesPerCoin?: string }) => {
      const session = await openProfile(options, 'partner')
      const path = pathWith(`${COINS}/reports/liability`, { rupeesPerCoin: options.rupeesPerCoin })
      show(await session.call<object>('GET', path), options)
    })
  addAllocations(coins)
}

function addAllocations(coins: Command): void {
  remote(coins.command('allocation <allocationId>'))
    .description('show what became of an allocation')
    .addHelpText('after', '\nExample:\n  svc coins allocation cal_…')
    .action(async (allocationId: string, options: RemoteOptions) => {
      const session = await openProfile(options, 'partner')
      show(await session.call<object>('GET', ofAllocation(allocationId)), options)
    })
  remote(coins.command('confirm <allocationId>'))
    .description('make a pending allocation active that waits for confirmation')
    .addHelpText('after', '\nExample:\n  svc coins confirm cal_…')
    .action(async (allocationId: string, options: RemoteOptions) => {
      const session = await openProfile(options, 'partner')
      show(await session.call<object>('POST', ofAllocation(allocationId, '/confirm'), {}), options)
    })
  remote(coins.command('void <allocationId>'))
    .description('take an allocation back: what is pending or remains of it')
    .requiredOption('--reason <text>', 'why, for the history')
    .option('--request-id <id>', 'your id of this void: however often it is sent, it happens once')
    .addHelpText('after', "\nExample:\n  svc coins void cal_… --reason 'order returned'")
    .action(async (allocationId: string, options: VoidOptions) => {
      const { reason, requestId = randomUUID() } = options
      const session = await openProfile(options, 'partner')
      show(
        await session.call<object>('POST', ofAllocation(allocationId, '/void'), { requestId, reason }),
        options,
      )
    })
}
