import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateWebhookSecretInConsole,
} from '@svc/console-api/faces/webhook-changes'
import { type ListedEndpoint, webhookEndpoint } from '@svc/server/webhooks/list-endpoints'
import type { Command } from 'commander'
import { addNounList, addNounShow } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

export function addWebhookCommands(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('manage the webhook endpoints of merchants and partners')
  addOperation(webhook, createWebhook, {
    name: 'create',
    by: ['tenantId'],
    one: 'endpoint',
    options: ['url', 'description', 'types'],
    description:
      'register an endpoint; prints its signing secret, which is shown only once (sandbox mode only)',
    example: 'svc admin webhook create mer_… --url https://shop.example.com/hook --types qr_code.credited',
  })
  addNounList<ListedEndpoint>(webhook, webhookEndpoint, {
    by: 'tenantId',
    description: 'list the endpoints of a tenant, or of all, newest first',
    example: 'svc admin webhook list mer_… --state disabled',
  })
  addNounShow<ListedEndpoint>(webhook, webhookEndpoint, {
    id: 'endpointId',
    description: 'show an endpoint, with what waits for it and its last attempt',
    example: 'svc admin webhook show whe_…',
  })
  addOperation(webhook, rotateWebhookSecretInConsole, {
    name: 'rotate',
    description:
      'create a new signing secret, which is shown only once (sandbox mode only); the previous ones stay in use for a day',
    example: 'svc admin webhook rotate whe_… --grace-seconds 3600',
  })
  for (const [name, enabled, description] of [
    ['disable', false, 'send nothing more to an endpoint'],
    ['enable', true, 'undo disable; what was missed can be replayed'],
  ] as const)
    addOperation(webhook, changeWebhook, {
      name,
      given: { enabled },
      options: [],
      description,
      example: `svc admin webhook ${name} whe_…`,
    })
  addOperation(webhook, deleteWebhook, {
    name: 'delete',
    description: 'delete an endpoint with its secrets, its attempts and what was still to be sent',
    example: 'svc admin webhook delete whe_…',
  })
}
