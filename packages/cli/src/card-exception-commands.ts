import type { CardException } from '@svc/core/cards/rail/card-exception'
import { cardException } from '@svc/server/cards/card-exceptions'
import type { Command } from 'commander'
import { addNounList } from './noun-commands.ts'

export const addExceptionCommands = (card: Command): void =>
  addNounList<CardException>(card, cardException, {
    name: 'exceptions',
    by: 'svcCardId',
    description:
      'list what the card network reported and no card, authorisation or capture fits; newest first',
    example: 'svc admin cards exceptions --limit 10',
  })
