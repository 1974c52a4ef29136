import {
  changePartner,
  createPartnerInConsole,
  issueJweKey,
  registerJweKey,
  retireJweKeyInConsole,
  showPartner,
} from '@svc/console-api/faces/partner-operations'
import {
  showRecordSettings,
  updateRecordSettingsInConsole,
} from '@svc/console-api/faces/record-setting-operations'
import type { Partner } from '@svc/core/tenants/partner'
import { partner } from '@svc/server/tenants/partners'
import type { Command } from 'commander'
import { addCredentialCommands } from './credential-commands.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'
import { parseJsonText, readText } from './read-text.ts'

export function addPartnerCommands(program: Command): void {
  const group = program.command('partner').description('register, list and disable card and rewards partners')
  addOperation(group, createPartnerInConsole, {
    name: 'create',
    options: ['name', 'products', 'plainRequests'],
    description:
      'register a partner; in sandbox mode with a first OAuth client, whose secret is shown only once',
    flags: { products: { name: 'product' } },
    example: 'svc admin partner create --name "Gift House" --product incentive',
    shown: ({ partner: made, credential }: { partner: object; credential?: object }) => ({
      ...made,
      ...credential,
    }),
  })
  addNounList<Partner>(group, partner, {
    description: 'list partners, newest first',
    example: 'svc admin partner list --json',
  })
  addNounShow<Partner>(group, partner, {
    id: 'partnerId',
    description: 'show a partner',
    example: 'svc admin partner show par_…',
  })
  for (const [name, disabled, description] of [
    ['disable', true, 'no more tokens; its tokens die within a second in every process'],
    ['enable', false, 'undo disable'],
  ] as const)
    addOperation(group, changePartner, {
      name,
      given: { disabled },
      description,
      example: `svc admin partner ${name} par_…`,
    })
  addOperation(group, showRecordSettings, {
    name: 'settings',
    description: 'show what the records of its cards say where their card account states nothing',
    example: 'svc admin partner settings par_…',
  })
  addOperation(group, updateRecordSettingsInConsole, {
    name: 'update',
    sets: true,
    description: 'change what the records of its cards say where their card account states nothing',
    example: 'svc admin partner update par_… --set svcSupportEmail=help@acme.example --set tncUrl=',
  })
  addCredentialCommands(
    group.command('client').description('issue, list, limit, roll and revoke OAuth clients of partners'),
    { path: 'svc admin partner client', what: 'OAuth client', tenant: 'par_…', credential: 'cli_…' },
  )
  addEncryptionKeyCommands(group)
}

function addEncryptionKeyCommands(partnerGroup: Command): void {
  const key = partnerGroup.command('key').description('encryption keys of a partner')
  addOperation(key, issueJweKey, {
    name: 'issue-shared',
    description:
      'issue a shared key (A256KW) as a JWK, shown only once (sandbox mode only); previous keys stay valid until they are retired',
    more: 'In live mode keys are handed over: svc admin member hand-over par_… <name> --shared-key\nTo rotate a key: issue a new one, give it to every client beside the previous one, then retire the previous one.\nUntil then responses are encrypted with the previous key, except those to requests that are encrypted with the new one.',
    example: [
      'svc admin partner key issue-shared par_… --json > shared.jwk',
      'svc admin partner key retire par_… sk_…',
    ],
  })
  addOperation(key, registerJweKey, {
    name: 'register-public',
    by: ['file?'],
    options: [],
    description:
      'register the partner’s public key (a JWK, from a file or standard input), to which responses are encrypted',
    more: 'Responses are encrypted to the first key at once, and to a further one when the previous one is retired.',
    example: [
      'svc admin partner key register-public par_… public.jwk',
      'jose jwk pub -i key.jwk | svc admin partner key register-public par_…',
    ],
    resolve: async ({ file, ...given }) => ({
      ...given,
      jwk: parseJsonText(await readText(file as string | undefined, 'a JWK'), 'a JWK'),
    }),
  })
  addOperation(key, showPartner, {
    name: 'list',
    description: 'list the encryption keys of a partner',
    example: 'svc admin partner key list par_…',
    shown: ({ jweKeys }: { readonly jweKeys: readonly object[] }) => jweKeys,
  })
  addOperation(key, retireJweKeyInConsole, {
    name: 'retire',
    description: 'retire a key for good: within a second nothing encrypted with it is accepted',
    example: 'svc admin partner key retire par_… sk_…',
  })
}
