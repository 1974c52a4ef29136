import {
  invitation as invitationNoun,
  invitationToWire,
} from '@svc/console-api/identity/invitation-operations'
import {
  INVITATION_HOURS,
  INVITATION_HOURS_MAX,
  type Invitation,
  type InvitationTools,
  insertInvitation,
  insertPasswordLink,
  invitationLink,
  type NewInvitation,
  newToken,
  revokeInvitationOf,
} from '@svc/console-api/identity/invitation-store'
import { isOperatorName } from '@svc/console-api/identity/operator-store'
import { ROLES } from '@svc/console-api/identity/permissions'
import type { Administrator } from '@svc/console-api/identity/second-administrator'
import type { Tx } from '@svc/platform/db/database'
import type { Command } from 'commander'
import { type AsOwner, refused, WAITS, withAdministrator } from './administrator.ts'
import { AS_OWNER } from './command-caller.ts'
import { addressOf } from './context.ts'
import { addNounList, printNoun } from './noun-commands.ts'
import { readRole } from './operator-role.ts'
import { UsageError } from './usage-error.ts'

interface Json {
  readonly json?: boolean
}

export function addInvitationCommands(operator: Command): void {
  operator
    .command('invite <name>')
    .description('print a link with which a person becomes an operator and chooses a password; it works once')
    .option('--role <role>', `what they may do: ${ROLES.join(', ')}`, 'viewer')
    .option('--hours <hours>', `how long the link works, 1 to ${INVITATION_HOURS_MAX}`, `${INVITATION_HOURS}`)
    .option(...AS_OWNER)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
viewer sees everything, with personal data masked; auditor also verifies; support handles cards and codes, finance
moves money, operations manages tenants and credentials; operator does what these three do; admin also manages operators.
In live mode the link to the role admin works once a second administrator has approved it.
The link is shown this one time: the database has only a digest of it. Its address is PUBLIC_URL.

Examples:
  svc admin operator invite ravi --role operator
  svc admin operator invite asha --role admin --as-owner     (the first administrator)
  svc admin operator invite ravi@example.com --hours 8`,
    )
    .action(invite)
  addNounList(operator, invitationNoun, {
    name: 'invitations',
    limit: 500,
    description: 'list invitations, by default those that were neither accepted nor revoked',
    example: 'svc admin operator invitations',
  })
  operator
    .command('revoke-invitation <name>')
    .description('the link of an invitation, by its name or id, stops working at once')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator revoke-invitation ravi')
    .action(async (name: string, { json = false }: Json) => {
      const now = new Date()
      const revoked = await withAdministrator(
        { command: 'operator revoke-invitation' },
        async ({ config, database }, { actor }) => {
          const ended = await database.operate((tx) => revokeInvitationOf(tx, name, now), 'read committed', {
            actor,
          })
          return ended && invitationToWire(ended, config.BUSINESS_TIME_ZONE, now)
        },
      )
      if (!revoked)
        throw new UsageError(
          `There is no open invitation ${name}. See them all with: svc admin operator invitations`,
        )
      printNoun(revoked, json)
    })
  addPasswordLinkCommand(operator)
}

function addPasswordLinkCommand(operator: Command): void {
  operator
    .command('password-link <name>')
    .description(
      'print a link with which an operator chooses another password; it works once, sessions end then',
    )
    .option('--hours <hours>', `how long the link works, 1 to ${INVITATION_HOURS_MAX}`, `${INVITATION_HOURS}`)
    .option(...AS_OWNER)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
A second factor stays: the link replaces the password alone. In live mode it works once a second administrator has
approved it.

Example:
  svc admin operator password-link ravi`,
    )
    .action(passwordLink)
}

/** Where the service is, as its own default says. */

export function readHours(text: string): number {
  const hours = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (hours < 1 || hours > INVITATION_HOURS_MAX)
    throw new UsageError(`The hours must be a whole number from 1 to ${INVITATION_HOURS_MAX}`)
  return hours
}

interface LinkOptions extends Json, AsOwner {
  readonly hours: string
}

async function invite(name: string, options: LinkOptions & { readonly role: string }): Promise<void> {
  const role = readRole(options.role, ROLES)
  if (!isOperatorName(name))
    throw new UsageError(
      'The name must be 2 to 64 small letters, digits and . _ @ -, a letter or digit first',
    )
  await printLink(options, { command: `operator invite ${name}` }, (tx, tools, by, link) =>
    insertInvitation(tx, tools, by, { ...link, name, role }),
  )
}

const passwordLink = (idOrName: string, options: LinkOptions): Promise<void> =>
  printLink(options, { command: `operator password-link ${idOrName}` }, (tx, tools, by, link) =>
    insertPasswordLink(tx, tools, by, { ...link, idOrName }),
  )

type LinkWanted = Pick<NewInvitation, 'hours' | 'token' | 'maker'>

async function printLink(
  { asOwner, hours: wanted, json = false }: LinkOptions,
  run: { readonly command: string },
  make: (tx: Tx, tools: InvitationTools, by: Administrator, link: LinkWanted) => Promise<Invitation>,
): Promise<void> {
  const hours = readHours(wanted)
  const now = new Date()
  const { approvalId, shown, link } = await refused(
    withAdministrator({ ...run, asOwner }, async ({ config, database, keyMaker }, by) => {
      const { keyring, random } = keyMaker
      const token = newToken(random)
      const tools = { config, keyring, random, now }
      const invitation = await database.operate(
        (tx) => make(tx, tools, by, { hours, token, maker: by.operator }),
        'read committed',
        { actor: by.actor },
      )
      return {
        approvalId: invitation.approvalId,
        shown: invitationToWire(invitation, config.BUSINESS_TIME_ZONE, now),
        link: invitationLink(addressOf(config), token),
      }
    }),
  )
  printNoun({ ...shown, ...(approvalId !== null && { approvalId }), link }, json)
  if (approvalId !== null && !json) process.stderr.write(`${WAITS}\n`)
}
