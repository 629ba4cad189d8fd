"""Words by which people take something back, in the languages of those who play: they sign no letter."""

RETRACTION_WORDS = frozenset(
    """
    nah nope no wait whoops oops hmm hm uh uhm oh damn darn sorry stop cancel never maybe later tomorrow ah
    cancelled canceled rejected invalid void denied withdrawn withdraw declined nonsense kidding joke draft
    test example pending tbd todo tentative provisional conditional unconfirmed delayed argh doh err eh huh
    what why please not wrong undo help attention careful hold pause abort typo mistake error question
    unsure undecided perhaps possibly none nothing nobody neither nor first soon again instead correction
    retracted revoked moment second sec minute ignore disregard postponed unclear optional alternatively
    otherwise preliminary

    nein halt quatsch mist ups stopp warte wartet warten momentchen sekunde irrtum fehler vorsicht achtung
    scherz witz spaß abbruch abbrechen storno storniert rückzug entwurf frage blödsinn unsinn vertippt
    verklickt versehen versehentlich vielleicht eventuell evtl später morgen erst noch niemals nie nirgends
    ungültig zurück falsch doch sonst entschuldigung verzeihung pardon bitte probe vorläufig unklar unsicher
    ne nö nee nicht nichts abwarten hilfe

    non zut attends attendez attendre arrêtez arrête erreur annulé annulée annuler annulez brouillon jamais
    demain plutôt peut-être oups désolé désolée doucement faux blague pas hésite

    espera esperad esperen alto aún nunca mañana luego quizás quizá anulado anular cancelado borrador
    pregunta perdón perdona perdonad momento broma falso ojo nada tampoco

    não espere amanhã talvez erro cancela rascunho pergunta desculpe desculpa depois

    aspetta aspettate fermo ferma fermi mai domani forse errore annullato annulla bozza domanda scusa
    scusate piano sbagliato niente scherzo dopo

    neen wacht wachten nooit misschien fout foutje geannuleerd annuleer concept vraag grapje momentje straks
    niet

    nej vänta vent aldrig aldri imorgon kanske kanskje måske fel feil fejl ångra fortryd senere senare
    utkast spørsmål spørgsmål fråga beklager förlåt undskyld inte ikke ikkje øyeblikk øjeblik

    ei eikä odota odottakaa huomenna ehkä virhe peruuta peruttu luonnos kysymys anteeksi hetki seis
    myöhemmin bíddu nei aldrei kannski ekki oota ärge vist viga homme tühista

    czekaj czekajcie poczekaj zaczekaj stój jutro może błąd anuluj anulowane szkic pytanie przepraszam
    chwila chwileczkę nigdy później pomyłka nikdy počkej počkejte počkat čekej čekejte zítra možná chyba
    zruš zrušit zrušeno návrh otázka promiň promiňte pozor omyl později zajtra možno prepáč počkaj čakaj nem
    várj várjatok soha holnap talán hiba mégsem vázlat kérdés bocsánat bocs pillanat később rossz nu
    așteaptă asteapta niciodată mâine poate greșeală anulează anulat întrebare scuze čekaj čekajte stani
    sutra možda greška poništi pitanje oprosti nikad počakaj jutri mogoče napaka hayır bekle bekleyin dur
    asla yarın belki hata iptal taslak soru sonra yanlış nē pagaidi varbūt rīt kļūda palauk gal rytoj klaida
    tidak tunggu besok mungkin không chờ khoan
    """.split()
)
