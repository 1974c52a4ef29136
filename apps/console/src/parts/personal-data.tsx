import { Text } from '@mantine/core'
import { api, responseOf } from '../api.ts'
import { hideLater } from '../revealed.ts'
import { queryClient, useSession } from '../session.ts'
import { ConfirmAction } from './confirm-action.tsx'

/** What stands in the place of personal data. */
export const MASK = '•••'

interface RevealProps {
  /** The object that the page is about. */
  readonly id: string
  /** What the page shows of it. */
  readonly shown: unknown
}

/** Asks for a reason and shows the personal data of an object, where something of it is masked. */
export function Reveal({ id, shown }: RevealProps) {
  const { can } = useSession()
  if (!JSON.stringify(shown ?? null).includes(MASK)) return undefined
  if (!can('reveal'))
    return (
      <Text size="sm" c="dimmed">
        Personal data is masked
      </Text>
    )
  return (
    <ConfirmAction
      label="Reveal personal data"
      confirm="Reveal for 15 minutes"
      withReason
      run={async (reason) => {
        await responseOf(api.POST('/personal-data/reveals', { body: { objectId: id, reason } }))
        hideLater(id)
        await queryClient.invalidateQueries()
      }}
    >
      Names, contacts and addresses are shown to you alone, for 15 minutes. Your name and the reason are kept
      in the audit.
    </ConfirmAction>
  )
}
