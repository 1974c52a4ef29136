import {
  INVITATION_HOURS,
  INVITATION_HOURS_MAX,
  type Invitation,
  insertInvitation,
  invitationLink,
  listOpenInvitations,
  newToken,
  revokeInvitationOf,
  stateOf,
} from '@svc/console-api/invitation-store'
import { isOperatorName } from '@svc/console-api/operator-store'
import { ROLES } from '@svc/console-api/permissions'
import type { Config } from '@svc/contract/config'
import { Failure } from '@svc/contract/errors'
import type { Command } from 'commander'
import { cliActor, withInstallation } from './context.ts'
import { readRole } from './operator-role.ts'
import { printRecord, printRows } from './print.ts'
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
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The link is shown this one time: the database has only a digest of it. Its address is PUBLIC_URL.

Examples:
  svc admin operator invite ravi --role operator
  svc admin operator invite ravi@example.com --hours 8`,
    )
    .action(invite)
  operator
    .command('invitations')
    .description('list invitations that were neither accepted nor revoked')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator invitations')
    .action(async ({ json = false }: Json) => {
      const invitations = await withInstallation(({ database }) => database.operate(listOpenInvitations))
      printRows(
        invitations.map((invitation) => shown(invitation, new Date())),
        json,
      )
    })
  operator
    .command('revoke-invitation <name>')
    .description('the link of an invitation, by its name or id, stops working at once')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  svc admin operator revoke-invitation ravi')
    .action(async (name: string, { json = false }: Json) => {
      const now = new Date()
      const revoked = await withInstallation(({ database }) =>
        database.operate((tx) => revokeInvitationOf(tx, name, now)),
      )
      if (!revoked)
        throw new UsageError(
          `There is no open invitation ${name}. See them all with: svc admin operator invitations`,
        )
      printRecord(shown(revoked, now), json)
    })
}

const shown = (invitation: Invitation, now: Date) => ({
  invitationId: invitation.invitationId,
  name: invitation.name,
  role: invitation.role,
  status: stateOf(invitation, now),
  createdAt: invitation.createdAt,
  createdBy: invitation.createdBy,
  expiresAt: invitation.expiresAt,
})

/** Where the service is, as its own default says. */
export const addressOf = ({ HOST, PORT, PUBLIC_URL }: Config): string =>
  PUBLIC_URL ?? `http://${HOST}:${PORT}`

export function readHours(text: string): number {
  const hours = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (hours < 1 || hours > INVITATION_HOURS_MAX)
    throw new UsageError(`The hours must be a whole number from 1 to ${INVITATION_HOURS_MAX}`)
  return hours
}

interface InviteOptions extends Json {
  readonly role: string
  readonly hours: string
}

async function invite(
  name: string,
  { role: text, hours: wanted, json = false }: InviteOptions,
): Promise<void> {
  const role = readRole(text, ROLES)
  const hours = readHours(wanted)
  if (!isOperatorName(name))
    throw new UsageError(
      'The name must be 2 to 64 small letters, digits and . _ @ -, a letter or digit first',
    )
  const now = new Date()
  const { invitation, link } = await withInstallation(async ({ config, database, keyMaker }) => {
    const token = newToken(keyMaker.random)
    return {
      invitation: await refused(
        database.operate((tx) =>
          insertInvitation(
            tx,
            { keyring: keyMaker.keyring, random: keyMaker.random, now },
            { name, role, hours, token, createdBy: cliActor() },
          ),
        ),
      ),
      link: invitationLink(addressOf(config), token),
    }
  })
  printRecord({ ...shown(invitation, now), link }, json)
}

/** Refusals are reported in one line, as everywhere on the command line. */
export async function refused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Failure) throw new UsageError(error.description)
    throw error
  }
}
