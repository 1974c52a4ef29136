import { shownSecret } from '@svc/console-api/faces/sandbox-secret'
import { issueSharedKey, listJweKeys, registerPublicKey, retireJweKey } from '@svc/core/tenants/jwe-keys'
import { UnusableJweKey } from '@svc/jwe/keys'
import { sqlState } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { asAdministrator } from './administrator.ts'
import { withInstallation } from './context.ts'
import { printRecord, printRows } from './print.ts'
import { parseJsonText, readText } from './read-text.ts'
import { requirePartner } from './require-partner.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

export function addPartnerKeyCommands(partner: Command): void {
  const key = partner.command('key').description('encryption keys of a partner')
  key
    .command('issue-shared <partnerId>')
    .description(
      'issue a shared key (A256KW) as a JWK, shown only once (sandbox mode only); previous keys stay valid until they are retired',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nIn live mode keys are handed over: svc admin member invite par_… <name> --hand-over --shared-key\nTo rotate a key: issue a new one, give it to every client beside the previous one, then retire the previous one:\n  svc admin partner key issue-shared par_… --json > shared.jwk\n  svc admin partner key retire par_… sk_…\nUntil then responses are encrypted with the previous key, except those to requests that are encrypted with the new one.',
    )
    .action(issueShared)
  key
    .command('register-public <partnerId> [file]')
    .description(
      'register the partner’s public key (a JWK, from a file or standard input), to which responses are encrypted',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  svc admin partner key register-public par_… public.jwk\n  jose jwk pub -i key.jwk | svc admin partner key register-public par_…\nResponses are encrypted to the first key at once, and to a further one when the previous one is retired.',
    )
    .action(registerPublic)
  key
    .command('list <partnerId>')
    .description('list the encryption keys of a partner')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin partner key list par_…')
    .action(async (partnerId: string, { json = false }: Json) => {
      const keys = await withInstallation(({ database }) =>
        database.operate(async (tx) => {
          await requirePartner(tx, partnerId)
          return listJweKeys(tx, partnerId)
        }),
      )
      printRows(keys, json)
    })
  key
    .command('retire <partnerId> <kid>')
    .description('retire a key for good: within a second nothing encrypted with it is accepted')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin partner key retire par_… sk_…')
    .action(async (partnerId: string, kid: string, { json = false }: Json) => {
      const retired = await withInstallation(({ database }) =>
        database.operate((tx) => retireJweKey(tx, partnerId, kid)),
      )
      if (!retired)
        throw new UsageError(
          `Partner ${partnerId} has no key ${kid}. See them with: svc admin partner key list <partnerId>`,
        )
      printRecord(retired, json)
    })
}

async function issueShared(partnerId: string, { json = false }: Json): Promise<void> {
  const issued = await asAdministrator('partner key issue-shared', async (tx, { config, keyMaker }) => {
    await requirePartner(tx, partnerId)
    const { k, ...key } = await issueSharedKey(tx, keyMaker, partnerId)
    return { ...key, k: shownSecret(k, config) }
  })
  printRecord(issued, json)
}

async function registerPublic(
  partnerId: string,
  file: string | undefined,
  { json = false }: Json,
): Promise<void> {
  const jwk = parseJsonText(await readText(file, 'a JWK'), 'a JWK')
  const key = await asAdministrator('partner key register-public', async (tx) => {
    await requirePartner(tx, partnerId)
    return registerPublicKey(tx, partnerId, jwk)
  }).catch((error: unknown) => {
    if (error instanceof UnusableJweKey) throw new UsageError(`This JWK cannot serve. ${error.message}.`)
    if (sqlState(error) === '23505')
      throw new UsageError('The partner has a key with this kid already. Give the new one another kid.')
    throw error
  })
  printRecord({ partnerId, kid: key.kid, kind: 'public', alg: key.alg, enc: key.enc }, json)
}
