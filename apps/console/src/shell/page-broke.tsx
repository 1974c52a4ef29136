import { Anchor, Container, Stack, Text, Title } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { APP } from '../app.ts'
import { FailureAlert } from '../parts/failure-alert.tsx'

export function NoSuchPage() {
  return (
    <Container size="xs" py="xl">
      <Stack>
        <Title order={1} size="h2">
          Page not found
        </Title>
        <Text>The address may be mistyped, or from another version of the {APP}.</Text>
        <Anchor component={Link} to="/">
          Go to the first page
        </Anchor>
      </Stack>
    </Container>
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
