import { Button, Stack, Text } from '@mantine/core'
import { type ReactNode, useCallback } from 'react'
import { signInAgain } from '../api.ts'
import { forgetKeptForms } from '../kept-forms.ts'
import { type ProofProps, QuestionDialog } from './question-dialog.tsx'

interface OverPageProps {
  readonly Entry: (props: { readonly confirmed: () => void }) => ReactNode
}

/** A session has ended while a form was open: the same person signs in and finds it as it was. */
export function OverPage({ Entry }: OverPageProps) {
  const Proof = useCallback(
    ({ confirmed, cancelled }: ProofProps) => (
      <Stack maw={420} mx="auto">
        <Text c="dimmed">Sign in to go on: what you entered in the form is kept.</Text>
        <Entry confirmed={confirmed} />
        <Button
          variant="subtle"
          onClick={() => {
            forgetKeptForms()
            cancelled()
          }}
        >
          Leave without the form
        </Button>
      </Stack>
    ),
    [Entry],
  )
  return <QuestionDialog question={signInAgain} title="Your session has ended" Proof={Proof} covers />
}
