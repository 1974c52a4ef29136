import {
  changeMerchant,
  createMerchantInConsole,
  linkMerchantInConsole,
} from '@svc/console-api/faces/merchant-operations'
import type { Merchant } from '@svc/core/tenants/merchant'
import { merchant } from '@svc/server/tenants/merchants'
import type { Command } from 'commander'
import { addCredentialCommands } from './credential-commands.ts'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

export function addMerchantCommands(program: Command): void {
  const group = program.command('merchant').description('register, list and disable merchants')
  addOperation(group, createMerchantInConsole, {
    name: 'create',
    options: ['name', 'vpa', 'mcc'],
    description: 'register a merchant; in sandbox mode with a first API key, which is shown only once',
    example: 'svc admin merchant create --name "Corner Shop" --vpa corner.shop@bank --mcc 5411',
    shown: ({ merchant: made, credential }: { merchant: object; credential?: object }) => ({
      ...made,
      ...credential,
    }),
  })
  addNounList<Merchant>(group, merchant, {
    description: 'list merchants, newest first',
    example: 'svc admin merchant list --status disabled',
  })
  addNounShow<Merchant>(group, merchant, {
    id: 'merchantId',
    description: 'show a merchant',
    example: 'svc admin merchant show mer_…',
  })
  addOperation(group, linkMerchantInConsole, {
    name: 'link',
    by: ['partnerId?'],
    description: 'let a merchant read the coin configurations of a partner; without a partner, no more',
    example: 'svc admin merchant link mer_… par_…',
  })
  for (const [name, disabled, description] of [
    ['disable', true, 'no more tokens, its tokens die within a second, its QR codes take no payments'],
    ['enable', false, 'undo disable'],
  ] as const)
    addOperation(group, changeMerchant, {
      name,
      given: { disabled },
      description,
      example: `svc admin merchant ${name} mer_…`,
    })
}

export const addKeyCommands = (program: Command): void =>
  addCredentialCommands(
    program.command('key').description('issue, list, limit, roll and revoke API keys of merchants'),
    { path: 'svc admin key', what: 'API key', tenant: 'mer_…', credential: 'key_…' },
  )
