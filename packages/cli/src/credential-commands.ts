import {
  issueCredentialInConsole,
  limitCredentialInConsole,
  revokeCredentialInConsole,
  rollCredentialInConsole,
  showCredentials,
} from '@svc/console-api/faces/credential-operations'
import type { Command } from 'commander'
import { addOperation } from './operation-command.ts'

/** What the credentials of a kind of tenant are. */
interface CredentialFace {
  /** The commands are below it, such as `svc admin key`. */
  readonly path: string
  readonly what: string
  /** Examples of the ids of a tenant and of one of its credentials. */
  readonly tenant: string
  readonly credential: string
}

const LIMITS = {
  addresses: { name: 'address' },
  scopes: { name: 'scope' },
}

/** Issue, list, limit, roll and revoke API keys of merchants, or OAuth clients of partners. */
export function addCredentialCommands(
  group: Command,
  { path, what, tenant, credential }: CredentialFace,
): void {
  addOperation(group, issueCredentialInConsole, {
    name: 'issue',
    description: `issue one more ${what}, shown only once (sandbox mode only); previous ones stay valid until they are revoked`,
    flags: { ...LIMITS, name: { description: 'what it is for', value: `issued by ${path} issue` } },
    more: `In live mode they are handed over: svc admin member hand-over ${tenant} <name>\nTo replace one without a gap: ${path} roll ${tenant} ${credential}`,
    example: `${path} issue ${tenant} --name "batch jobs" --address 203.0.113.0/24`,
  })
  addOperation(group, showCredentials, {
    name: 'list',
    description: `list each ${what} of a tenant`,
    example: `${path} list ${tenant}`,
    shown: ({ data }: { readonly data: readonly object[] }) => data,
  })
  addOperation(group, limitCredentialInConsole, {
    name: 'limit',
    description: 'set from which addresses it may be used and for what; holds within a second',
    flags: LIMITS,
    more: 'Both lists are replaced. An empty one limits nothing: --scope ""',
    example: `${path} limit ${tenant} ${credential} --address 203.0.113.0/24 2001:db8::/32 --scope ""`,
  })
  addOperation(group, rollCredentialInConsole, {
    name: 'roll',
    description: `issue one in the place of another ${what}, which goes on working for some hours; shown only once (sandbox mode only)`,
    example: `${path} roll ${tenant} ${credential} --hours 48`,
  })
  addOperation(group, revokeCredentialInConsole, {
    name: 'revoke',
    description: 'revoke it for good; its tokens die within a second in every process',
    example: `${path} revoke ${tenant} ${credential}`,
  })
}
