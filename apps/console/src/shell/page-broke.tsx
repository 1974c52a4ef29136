import { Anchor, Container, Text } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { APP } from '../app.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'
import { Page } from '../parts/page.tsx'

/** An address of no page, in the frame, whose search and places lead on. */
export function NoSuchPage() {
  return (
    <Page title="Page not found" lead={`The address may be mistyped, or from another version of the ${APP}.`}>
      <Text>
        Search above for what you look for, choose a place, or{' '}
        <Anchor component={Link} to="/" underline="always">
          go to the first page
        </Anchor>
        .
      </Text>
    </Page>
  )
}

/** A page that could not be shown: its script did not load, or failed. The rest of the console still works. */
export function PageBroke({ error, reset }: ErrorComponentProps) {
  return (
    <Container size="sm" py="xl">
      <FailureAlert failed={error} retry={reset} />
    </Container>
  )
}
