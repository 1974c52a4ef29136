import { type Alert, alert } from '@svc/console-api/alerts/alert-store'
import { acknowledgeAlertByOperator } from '@svc/console-api/faces/alert-operations'
import type { Command } from 'commander'
import { addNounList } from './noun-commands.ts'
import { addOperation } from './operation-command.ts'

export function addAlertCommands(program: Command): void {
  const group = program
    .command('alerts')
    .description('list and acknowledge conditions of the service that people must act on')
  addNounList<Alert>(group, alert, {
    description: 'list alerts whose condition lasts, newest first',
    example: 'svc admin alerts list --severity critical',
    only: { status: 'lasting' },
    all: 'also those that are closed',
  })
  addOperation(group, acknowledgeAlertByOperator, {
    name: 'acknowledge',
    description: 'record that you take care of an alert; a repeat prints the first acknowledgement',
    example: 'svc admin alerts acknowledge alr_… --note "the bank was asked, ticket 1042"',
  })
}
