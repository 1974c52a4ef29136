import { connectionOptions } from '@svc/platform/db/connection-options'
import { DatabaseClient } from '@svc/platform/db/server-locator'
import type { Command } from 'commander'
import { withAddress } from './context.ts'
import { printRecord } from './print.ts'

/** For data that was brought back by other means than `svc admin restore`, which does the same. */
export function addEndAccessCommand(program: Command): void {
  program
    .command('end-access')
    .description('after a point-in-time recovery: end sessions, links, challenges, one-time codes and tokens')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
People sign in again; open links and recovery codes stop working, tokens of programs are refused and issued again.
Passwords, passkeys, authenticator apps, API keys and OAuth clients stay as they were at the moment of the data. Needs
DATABASE_OWNER_URL.

Example:
  svc admin end-access`,
    )
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      await withAddress(async ({ address }) => {
        const client = new DatabaseClient(connectionOptions(address, undefined))
        await client.connect()
        try {
          await client.query('set role svc_owner')
          await client.query('select svc.end_all_access()')
        } finally {
          await client.end()
        }
      })
      printRecord({ ended: true }, json)
    })
}
