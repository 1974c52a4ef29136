import { useAreas } from './areas.ts'
import { NoSuchPage } from './no-such-page.tsx'

/** With the places of who is signed in. */
export const NotFound = () => <NoSuchPage areas={useAreas()} />
